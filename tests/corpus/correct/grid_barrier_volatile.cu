// A grid-wide barrier from an atomic counter polled through volatile, between the sweeps of a Jacobi iteration: all blocks resident.

__device__ void grid_sync(unsigned int *arrived, unsigned int goal)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrived, 1u);
        while (*(volatile unsigned int *)arrived < goal) {
        }
        __threadfence();
    }
    __syncthreads();
}

// warpsmith: grid=3 block=32 arg a=float[98]=random arg b=float[98]=random arg n=98 arg sweeps=4 arg arrived=uint[1]
// warpsmith: grid=4 block=32 arg a=float[75]=random arg b=float[75]=random arg n=75 arg sweeps=3 arg arrived=uint[1]
__global__ void jacobi(float *a, float *b, int n, int sweeps, unsigned int *arrived)
{
    float *from = a, *to = b;
    for (int s = 0; s < sweeps; ++s) {
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
            to[i] = (i > 0 && i < n - 1) ? 0.5f * (from[i - 1] + from[i + 1]) : from[i];
        grid_sync(arrived, (s + 1) * gridDim.x);
        float *t = from;
        from = to;
        to = t;
    }
}
