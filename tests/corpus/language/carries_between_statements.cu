// Sums of several words whose carry goes from one `asm` statement of a function to the next.
#include <cassert>
__device__ void add(unsigned (&r)[4], const unsigned (&a)[4], const unsigned (&b)[4])
{
    asm volatile("add.cc.u32 %0, %1, %2;" : "=r"(r[0]) : "r"(a[0]), "r"(b[0]));
    for (int i = 1; i < 3; i++) asm volatile("addc.cc.u32 %0, %1, %2;" : "=r"(r[i]) : "r"(a[i]), "r"(b[i]));
    asm volatile("addc.u32 %0, %1, %2;" : "=r"(r[3]) : "r"(a[3]), "r"(b[3]));
}

// warpsmith: grid=1 block=32 arg out=int[32]
__global__ void sums(int *out)
{
    unsigned t = threadIdx.x, r[4];
    unsigned a[4] = {0xfffffff0u + t % 16, 0xffffffffu, 0xffffffffu, 7}, b[4] = {8, 0, 0, 0};
    add(r, a, b);
    bool over = t % 16 >= 8;
    assert(r[0] == 0xfffffff8u + t % 16 && r[1] == (over ? 0u : 0xffffffffu) && r[3] == (over ? 8u : 7u));
    unsigned low, high;
    asm volatile("sub.cc.u32 %0, %1, %2;" : "=r"(low) : "r"(t), "r"(3u));
    asm volatile("subc.u32 %0, %1, %2;" : "=r"(high) : "r"(5u), "r"(0u));
    assert(low == t - 3u && high == (t < 3u ? 4u : 5u));
    out[t] = r[3];
}
