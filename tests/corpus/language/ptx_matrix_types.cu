// mma.sync of tf32, bf16, signed and unsigned bytes, and doubles; elements are put together by hand, as the manual lays them out.
#include <cuda_bf16.h>
#include <cstdint>
__device__ float tf32(float x)
{
    uint32_t bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return __uint_as_float(bits);
}
// warpsmith: grid=1 block=32 arg x=float[384] arg y=float[128]=zeros
__global__ void of_tf32(const float *x, float *y)
{
    int lane = threadIdx.x, g = lane >> 2, t = lane & 3;
    const float *a = x, *b = x + 128;
    uint32_t ra[4], rb[2];
    for (int i = 0; i < 4; i++) ra[i] = __float_as_uint(tf32(a[(g + 8 * (i & 1)) * 8 + t + 4 * (i >> 1)]));
    for (int i = 0; i < 2; i++) rb[i] = __float_as_uint(tf32(b[(t + 4 * i) * 8 + g]));
    float d[4];
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};\n"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
                 : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]), "f"(0.f), "f"(0.f), "f"(0.f), "f"(0.f));
    for (int e = 0; e < 4; e++) {
        int row = g + 8 * (e >> 1), column = 2 * t + (e & 1);
        float want = 0.0f;
        for (int k = 0; k < 8; k++) want += tf32(a[row * 8 + k]) * tf32(b[k * 8 + column]);
        __assert(fabsf(d[e] - want) < 1e-5f);
        y[row * 8 + column] = d[e];
    }
}
// warpsmith: grid=1 block=32 arg x=float[384]
__global__ void of_bf16(const float *x)
{
    int lane = threadIdx.x, g = lane >> 2, t = lane & 3;
    const float *a = x, *b = x + 256;
    uint32_t ra[4], rb[2];
    for (int i = 0; i < 4; i++) {
        const float *p = &a[(g + 8 * (i & 1)) * 16 + 2 * t + 8 * (i >> 1)];
        __nv_bfloat162 both = __floats2bfloat162_rn(p[0], p[1]);
        ra[i] = *reinterpret_cast<uint32_t *>(&both);
    }
    for (int i = 0; i < 2; i++) {
        int k = 2 * t + 8 * i;
        __nv_bfloat162 both = __floats2bfloat162_rn(b[k * 8 + g], b[(k + 1) * 8 + g]);
        rb[i] = *reinterpret_cast<uint32_t *>(&both);
    }
    float d0 = 0, d1 = 0, d2 = 0, d3 = 0;
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
                 : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
                 : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
    float got[4] = {d0, d1, d2, d3};
    for (int e = 0; e < 4; e++) {
        int row = g + 8 * (e >> 1), column = 2 * t + (e & 1);
        float want = 0.0f;
        for (int k = 0; k < 16; k++)
            want += __bfloat162float(__float2bfloat16(a[row * 16 + k])) * __bfloat162float(__float2bfloat16(b[k * 8 + column]));
        __assert(fabsf(got[e] - want) < 1e-4f);
    }
}
// warpsmith: grid=1 block=32 arg a=schar[512] arg b=uchar[256]
__global__ void of_bytes(const signed char *a, const unsigned char *b)
{
    int lane = threadIdx.x, g = lane / 4, t = lane % 4;
    uint32_t ra[4], rb[2];
    for (int i = 0; i < 4; i++) ra[i] = *(const uint32_t *)&a[(g + 8 * (i % 2)) * 32 + 4 * t + 16 * (i / 2)];
    for (int i = 0; i < 2; i++) {
        rb[i] = 0;
        for (int e = 0; e < 4; e++) rb[i] |= (uint32_t)b[(4 * t + 16 * i + e) * 8 + g] << (8 * e);
    }
    int d[4];
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
                 : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]), "r"(1), "r"(2), "r"(3), "r"(4));
    for (int e = 0; e < 4; e++) {
        int row = g + 8 * (e / 2), column = 2 * t + e % 2, want = e + 1;
        for (int k = 0; k < 32; k++) want += a[row * 32 + k] * b[k * 8 + column];
        __assert(d[e] == want);
    }
}
// warpsmith: grid=1 block=32 arg a=double[32] arg b=double[32]
__global__ void of_doubles(const double *a, const double *b)
{
    int lane = threadIdx.x, g = lane / 4, t = lane % 4;
    double d0, d1;
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%4,%5};"
        : "=d"(d0), "=d"(d1) : "d"(a[g * 4 + t]), "d"(b[t * 8 + g]), "d"(0.0), "d"(1.0));
    double w0 = 0, w1 = 1;
    for (int k = 0; k < 4; k++) {
        w0 = fma(a[g * 4 + k], b[k * 8 + 2 * t], w0);
        w1 = fma(a[g * 4 + k], b[k * 8 + 2 * t + 1], w1);
    }
    __assert(d0 == w0 && d1 == w1);
}
