// Floating-point numbers of 8 bits: rounding to even, the largest number, small ones, and what is none.
#include <cuda_fp8.h>
// warpsmith: grid=1 block=32 arg x=float[32]
__global__ void quantised(float *x)
{
    __assert(float(__nv_fp8_e4m3(448.0f)) == 448.0f && float(__nv_fp8_e4m3(1e6f)) == 448.0f);
    __assert(float(__nv_fp8_e4m3(17.0f)) == 16.0f && float(__nv_fp8_e4m3(19.0f)) == 20.0f);
    __assert(float(__nv_fp8_e4m3(-0.001953125f)) == -0.001953125f);
    __assert(float(__nv_fp8_e5m2(57344.0f)) == 57344.0f && float(__nv_fp8_e5m2(9.0f)) == 8.0f);
    __assert(float(__nv_fp8_e5m2(1.0f / 65536.0f)) == 1.0f / 65536.0f);
    __assert(__nv_cvt_float_to_fp8(1e9f, __NV_NOSAT, __NV_E5M2) == 0x7c);
    __assert(__nv_cvt_float_to_fp8(1.0f, __NV_SATFINITE, __NV_E4M3) == 0x38);
    __nv_fp8_e4m3 a(x[threadIdx.x]);
    float back = float(a);
    __assert(back != back || fabsf(back - x[threadIdx.x]) <= fabsf(x[threadIdx.x]) / 16.0f + 0.001f || fabsf(back) == 448.0f);
    x[threadIdx.x] = back;
}
