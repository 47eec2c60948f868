// Floating-point numbers of 8 bits
#include <cuda_fp8.h>
// warpsmith: grid=1 block=32 arg x=float[32]
__global__ void f(float *x)
{
    __nv_fp8_e4m3 a(x[threadIdx.x]);
    x[threadIdx.x] = float(a);
}
