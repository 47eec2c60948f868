// Inline PTX as helper functions: special registers, cache hints, bit fields, permutes, predicates, fences, atomics.
#include <assert.h>
#include <cstdint>

__device__ __forceinline__ unsigned lane_id()
{
    unsigned r;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(r));
    return r;
}

__device__ __forceinline__ unsigned lanemask_lt()
{
    unsigned r;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(r));
    return r;
}

__device__ __forceinline__ float4 load_once(const float4 *p)
{
    float4 r;
    asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(r.x), "=f"(r.y), "=f"(r.z), "=f"(r.w)
                 : "l"(p));
    return r;
}

__device__ __forceinline__ float load_if(const float *p, int wanted)
{
    float r = -1.0f;
    asm volatile("{\n"
                 "  .reg .pred p;\n"
                 "  setp.ne.b32 p, %2, 0;\n"
                 "  @p ld.global.f32 %0, [%1 + 4];\n"
                 "}\n"
                 : "+f"(r)
                 : "l"(p), "r"(wanted));
    return r;
}

__device__ __forceinline__ unsigned bfe(unsigned x, unsigned at, unsigned n)
{
    unsigned r;
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(at), "r"(n));
    return r;
}

__device__ __forceinline__ int bfe_signed(int x, unsigned at, unsigned n)
{
    int r;
    asm("bfe.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(at), "r"(n));
    return r;
}

__device__ __forceinline__ unsigned bfi(unsigned x, unsigned into, unsigned at, unsigned n)
{
    unsigned r;
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(x), "r"(into), "r"(at), "r"(n));
    return r;
}

template <int TABLE>
__device__ __forceinline__ unsigned lop3(unsigned a, unsigned b, unsigned c)
{
    unsigned r;
    asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(a), "r"(b), "r"(c), "n"(TABLE));
    return r;
}

// warpsmith: grid=2 block=64 arg in=float[512]=random arg out=float[128] arg count=unsigned[1]=zeros arg flag=int[1]=zeros
__global__ void helpers(const float4 *in, float *out, unsigned *count, int *flag)
{
    __shared__ float s[64];
    const int t = threadIdx.x, i = blockIdx.x * 64 + t;
    const float4 v = load_once(in + i);
    s[t] = v.x + v.w;
    asm volatile("bar.sync 0;" ::: "memory");
    out[i] = s[63 - t] + load_if(&in[i].x, t & 1);

    assert(lane_id() == t % 32);
    assert(__popc(lanemask_lt()) == t % 32);
    assert(bfe(0xabcd1234u, 8, 8) == 0x12 && bfe(0xffffffffu, 4, 0) == 0 && bfe(0x80000000u, 31, 5) == 1);
    assert(bfe_signed(0x00f0, 4, 4) == -1 && bfe_signed(0x0070, 4, 4) == 7);
    assert(bfi(0x5, 0xffffffffu, 4, 4) == 0xffffff5fu && bfi(7, 1, 0, 0) == 1);
    assert(lop3<0x96>(0xf0, 0xcc, 0xaa) == (0xf0 ^ 0xcc ^ 0xaa));
    assert(lop3<0xe8>(0xf0, 0xcc, 0xaa) == 0xe8);

    int sum, product;
    asm("{ .reg .s32 a; add.s32 a, %2, 5; mul.lo.s32 %1, a, %3; sub.s32 %0, a, 1; }"
        : "=r"(sum), "=r"(product)
        : "r"(t), "r"(3));
    assert(sum == t + 4 && product == (t + 5) * 3);
    uint64_t both;
    asm("mov.b64 %0, {%1, %2};" : "=l"(both) : "r"(t), "r"(7));
    assert(both == (7ull << 32 | t));

    asm volatile("red.global.add.u32 [%0], %1;" ::"l"(count), "r"(1) : "memory");
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
    if (i == 0)
        asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(flag), "r"(1) : "memory");
}
