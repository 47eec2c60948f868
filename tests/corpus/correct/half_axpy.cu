// Half-precision axpy and dot product: __half, __half2, conversions, arithmetic intrinsics, a view of two halves as one.
#include <cuda_fp16.h>

// warpsmith: grid=2 block=32 arg x=half[128]=random arg y=half[128]=random arg a=0.5 arg pairs=64
// warpsmith: grid=1 block=64 arg x=half[74]=random arg y=half[74]=random arg a=2 arg pairs=37
__global__ void haxpy(const __half *x, __half *y, float a, int pairs)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < pairs) {
        const __half2 xv = reinterpret_cast<const __half2 *>(x)[i];
        __half2 yv = reinterpret_cast<__half2 *>(y)[i];
        yv = __hfma2(__float2half2_rn(a), xv, yv);
        reinterpret_cast<__half2 *>(y)[i] = yv;
    }
}

// warpsmith: grid=1 block=32 arg x=half[100]=random arg y=half[100]=random arg out=float[1] arg n=100
__global__ void hdot(const __half *x, const __half *y, float *out, int n)
{
    float acc = 0.f;
    for (int i = threadIdx.x; i < n; i += 32) acc += __half2float(__hmul(x[i], y[i]));
    for (int d = 16; d > 0; d >>= 1) acc += __shfl_xor_sync(0xffffffff, acc, d);
    if (threadIdx.x == 0) *out = acc;
}
