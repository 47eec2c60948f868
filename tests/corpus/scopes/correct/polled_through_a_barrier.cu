// The whole block takes part in waiting: its leader looks at the flag, and a barrier tells the others.
// warpsmith: grid=2 block=64 arg data=int[64]=zeros arg flag=uint[1]=zeros arg out=int[64]=zeros
__global__ void wait_as_one(int *data, unsigned *flag, int *out)
{
    if (blockIdx.x == 1) {
        data[threadIdx.x] = threadIdx.x;
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) atomicExch(flag, 1u);
    } else {
        int seen;
        do {
            seen = threadIdx.x == 0 ? (int)atomicAdd(flag, 0u) : 0;
        } while (__syncthreads_or(seen) == 0);
        __threadfence();
        out[threadIdx.x] = data[63 - threadIdx.x];
    }
}
