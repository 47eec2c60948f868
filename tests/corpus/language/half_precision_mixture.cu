// Halves, pairs of halves and bfloat16: arithmetic, comparisons, conversions, bits.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
// warpsmith: grid=1 block=64 arg o=unsigned[64] arg h=half2[64] arg b=__nv_bfloat16[64]
__global__ void mixture(unsigned *o, __half2 *h, __nv_bfloat16 *b)
{
    int i = threadIdx.x;
    __half2 v = __floats2half2_rn(1.0f, 2.0f);
    v = __hmul2(v, __float2half2_rn(2.0f));
    v = __hfma2(v, v, __halves2half2(__float2half(1.0f), __ushort_as_half(0x3c00)));
    h[i] = v;
    float f = __half2float(__low2half(v)) + __high2float(v);
    __assert(f == 5.0f + 17.0f);
    b[i] = __float2bfloat16_rn(f);
    __assert(__bfloat162float(b[i]) == 22.0f);
    bool less = __hlt(__float2half(1.0f), __low2half(v));
    o[i] = less + __half_as_ushort(hsqrt(__float2half(4.0f)));
    __assert(o[i] == 1 + 0x4000);
}
