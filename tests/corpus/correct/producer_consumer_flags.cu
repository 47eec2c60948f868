// Blocks hand a value down a chain: plain data, __threadfence, a flag by atomicExch; the next block polls with an atomic read.

// warpsmith: grid=4 block=32 arg value=int[5] arg ready=int[5] arg trace=int[4][32]
// warpsmith: grid=3 block=17 arg value=int[4] arg ready=int[4] arg trace=int[3][17]
__global__ void chain(int *value, int *ready, int *trace)
{
    __shared__ int carry;
    const int b = blockIdx.x;
    if (threadIdx.x == 0) {
        int v = 1;
        if (b > 0) {
            while (atomicAdd(&ready[b - 1], 0) == 0) { /* spin */ }
            __threadfence();
            v = value[b - 1] * 3;
        }
        value[b] = v;
        __threadfence();
        atomicExch(&ready[b], 1);
        carry = v;
    }
    __syncthreads();
    trace[b * blockDim.x + threadIdx.x] = carry + threadIdx.x;
}
