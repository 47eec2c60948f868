// The whole block meets at a barrier in each turn of a loop that waits for another block, which begins later.
// warpsmith: grid=3 block=64 arg ready=int[1]=zeros arg data=float[64] arg out=float[128]
__global__ void wait_together(int *ready, float *data, float *out)
{
    __shared__ int seen;
    if (blockIdx.x == 2) {
        data[threadIdx.x] = threadIdx.x * 0.5f;
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) atomicExch(ready, 1);
        return;
    }
    do {
        __syncthreads();
        if (threadIdx.x == 0) seen = atomicAdd(ready, 0);
        __syncthreads();
    } while (seen == 0);
    __threadfence();
    out[blockIdx.x * 64 + threadIdx.x] = data[63 - threadIdx.x];
}
