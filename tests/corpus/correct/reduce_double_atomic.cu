// Several elements a thread in double, combined by a 64-bit floating atomicAdd: double arithmetic and atomics.
#define ITEMS 4

// warpsmith: grid=2 block=64 arg n=512 arg x=double[512]=random arg sum=double[1]
// warpsmith: grid=3 block=96 arg n=1000 arg x=double[1000]=random(3) arg sum=double[1]
__global__ void sum_of_squares(const double *x, double *sum, int n)
{
    __shared__ double warp_total[32];
    const int base = blockIdx.x * blockDim.x * ITEMS + threadIdx.x;
    double acc = 0.0;
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) {
        const int i = base + k * blockDim.x;
        if (i < n) acc = fma(x[i], x[i], acc);
    }
    for (int d = 16; d >= 1; d >>= 1) acc += __shfl_xor_sync(0xffffffff, acc, d);

    const int warp = threadIdx.x >> 5;
    if ((threadIdx.x & 31) == 0) warp_total[warp] = acc;
    __syncthreads();
    if (threadIdx.x == 0) {
        double block = 0.0;
        for (int w = 0; w < (int)(blockDim.x >> 5); ++w) block += warp_total[w];
        atomicAdd(sum, block);
    }
}
