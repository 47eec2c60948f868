// Numbers of 16 and 8 bits by their bits: structures that stand for them, and conversions of these.
#include <cassert>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

// warpsmith: grid=1 block=32 arg out=half[32] arg bits=__half_raw[32]
__global__ void bits(__half *out, __half_raw *bits)
{
    __half one = __half_raw{0x3c00};
    __half_raw raw = one;
    raw.x ^= 0x8000;
    assert(__half2float(__half(raw)) == -1.0f);
    bits[threadIdx.x] = raw;
    out[threadIdx.x] = bits[threadIdx.x];
    assert(static_cast<__half_raw>(out[threadIdx.x]).x == 0xbc00);
    __half2_raw pair;
    pair.x = 0x3c00;
    pair.y = 0x4000;
    __half2 both = pair;
    assert(__low2float(both) == 1.0f && __high2float(both) == 2.0f && __half2_raw(both).y == 0x4000);
    __nv_bfloat16_raw b;
    b.x = 0x3fc0;
    __nv_bfloat16 wide(b);
    assert(__bfloat162float(wide) == 1.5f && __nv_bfloat16_raw(wide).x == 0x3fc0);
    __half again = *reinterpret_cast<__half *>(&raw);
    assert(__half2float(again) == -1.0f);
}

// warpsmith: grid=1 block=32 arg out=u8[32]
__global__ void eights(unsigned char *out)
{
    float x = 0.25f * threadIdx.x;
    __nv_fp8_storage_t code = __nv_cvt_halfraw_to_fp8(__float2half(x), __NV_SATFINITE, __NV_E5M2);
    __half back = __nv_cvt_fp8_to_halfraw(code, __NV_E5M2);
    assert(fabsf(__half2float(back) - x) <= 0.125f * x);
    assert(__nv_cvt_float_to_fp8(__half2float(back), __NV_SATFINITE, __NV_E5M2) == code);
    __half2 two = __floats2half2_rn(x, 2.0f);
    __nv_fp8x2_storage_t codes = __nv_cvt_halfraw2_to_fp8x2(two, __NV_SATFINITE, __NV_E4M3);
    __half2 pair = __nv_cvt_fp8x2_to_halfraw2(codes, __NV_E4M3);
    assert(__high2float(pair) == 2.0f && fabsf(__low2float(pair) - x) <= 0.0625f * x);
    out[threadIdx.x] = code;
}
