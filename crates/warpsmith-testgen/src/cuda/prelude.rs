//! What the generated texts rely on: in C what CUDA has by itself, and in both languages the same helpers.

/// What the C texts use of CUDA, written in C. Comes once before any number of them.
pub const C_PRELUDE: &str = r"#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#define min(a, b) ((b) < (a) ? (b) : (a))
#define max(a, b) ((a) < (b) ? (b) : (a))
static int __popc(unsigned x) { int n = 0; for (; x; x &= x - 1) n++; return n; }
static int __popcll(unsigned long long x) { int n = 0; for (; x; x &= x - 1) n++; return n; }
static int __clz(int x) { int n = 0; while (n < 32 && !((unsigned)x >> (31 - n) & 1)) n++; return n; }
static int __clzll(long long x) { int n = 0; while (n < 64 && !((unsigned long long)x >> (63 - n) & 1)) n++; return n; }
static int __ffs(int x) { for (int i = 0; i < 32; i++) if ((unsigned)x >> i & 1) return i + 1; return 0; }
static unsigned __brev(unsigned x) { unsigned r = 0; for (int i = 0; i < 32; i++) r |= (x >> i & 1) << (31 - i); return r; }
static unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
static int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
static unsigned __funnelshift_l(unsigned low, unsigned high, unsigned s) { s &= 31; return s ? high << s | low >> (32 - s) : high; }
static unsigned __funnelshift_r(unsigned low, unsigned high, unsigned s) { s &= 31; return s ? low >> s | high << (32 - s) : low; }
static unsigned __byte_perm(unsigned a, unsigned b, unsigned s)
{
    unsigned long long both = (unsigned long long)b << 32 | a;
    unsigned r = 0;
    for (int i = 0; i < 4; i++) {
        unsigned pick = s >> (4 * i) & 15, byte = both >> (8 * (pick & 7)) & 255;
        if (pick & 8) byte = byte & 128 ? 255 : 0;
        r |= byte << (8 * i);
    }
    return r;
}
static unsigned __float_as_uint(float x) { union { float f; unsigned u; } v = { x }; return v.u; }
static float __uint_as_float(unsigned x) { union { unsigned u; float f; } v = { x }; return v.f; }
/* Half numbers are kept as floats, rounded to the nearest half after each operation. */
typedef float __half;
static float __float2half(float x)
{
    if (x != x) return x;
    float size = fabsf(x);
    if (size >= 65520.0f) return copysignf(INFINITY, x);
    float step = ldexpf(1.0f, size < 0x1p-14f ? -24 : ilogbf(size) - 10);
    return copysignf(rintf(size / step) * step, x);
}
static float __half2float(float x) { return x; }
static float __hadd(float a, float b) { return __float2half(a + b); }
static float __hsub(float a, float b) { return __float2half(a - b); }
static float __hmul(float a, float b) { return __float2half(a * b); }
static bool __hlt(float a, float b) { return a < b; }
typedef struct { float x, y, z, w; } float4;
typedef struct { unsigned x, y; } uint2;
static float4 make_float4(float x, float y, float z, float w) { float4 v = { x, y, z, w }; return v; }
static uint2 make_uint2(unsigned x, unsigned y) { uint2 v = { x, y }; return v; }
#define __ldg(p) (*(p))
#define __device__
#define __constant__ const
#define PICK(k, a, b) ((k) & 1 ? (a) : (b))
static void bump(unsigned *x, unsigned by) { *x = *x * 5u + by; }
#define BUMP(x, by) bump(&(x), by)
";

/// The same in CUDA: what C spells differently.
pub const CUDA_PRELUDE: &str = r"#include <cuda_fp16.h>

template <int K, typename T>
__device__ T pick(T a, T b)
{
    return K & 1 ? a : b;
}

__device__ void bump(unsigned &x, unsigned by) { x = x * 5u + by; }

#define PICK(k, a, b) pick<k>(a, b)
#define BUMP(x, by) bump(x, by)

";

/// Helpers that both languages read; in C they come after [`C_PRELUDE`].
pub const COMMON: &str = r"struct Part {
    float x;
    unsigned k;
    short s;
    int v[3];
};

__constant__ unsigned table[8] = {3u, 1u, 4u, 0x80000000u, 5u, 9u, 0xffffffffu, 6u};

static __device__ unsigned mix(unsigned x, int k)
{
    if (k < 0)
        return x ^ 0x9e3779b9u;
    for (int i = 0; i < (k & 3); i++) {
        x ^= x >> 15;
        x *= 0x85ebca6bu;
    }
    return x;
}

static __device__ void twist(unsigned *x, float *y, unsigned by)
{
    *x = (*x << 7 | *x >> 25) + by;
    if (*x & 1u)
        *y = *y * 0.5f;
}

static __device__ struct Part turn(struct Part p, int by)
{
    int first = p.v[0];
    for (int i = 0; i < 2; i++)
        p.v[i] = p.v[i + 1];
    p.v[2] = first ^ by;
    p.k += (unsigned)p.s;
    return p;
}

static __device__ unsigned fold(const struct Part *p)
{
    unsigned sum = p->k ^ (unsigned)p->s;
    for (const int *v = p->v; v != p->v + 3; ++v)
        sum = sum * 31u + (unsigned)*v;
    return sum;
}

";
