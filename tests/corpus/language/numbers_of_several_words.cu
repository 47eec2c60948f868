// Carries in PTX: sums, differences and products of numbers that have several words.
__device__ void add128(unsigned *r, const unsigned *a, const unsigned *b)
{
    asm("add.cc.u32 %0, %4, %8;\n\t"
        "addc.cc.u32 %1, %5, %9;\n\t"
        "addc.cc.u32 %2, %6, %10;\n\t"
        "addc.u32 %3, %7, %11;"
        : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]));
}

// warpsmith: grid=1 block=32 arg x=unsigned[32]=random
__global__ void words(unsigned *x)
{
    int t = threadIdx.x;
    unsigned a[4] = {0xffffffffu, 0xffffffffu, 7u + t, 0u}, b[4] = {1u, 0u, 0xfffffff0u, 2u}, r[4];
    add128(r, a, b);
    __assert(r[0] == 0 && r[1] == 0 && r[2] == 0xfffffff8u + t && r[3] == (t >= 8 ? 3u : 2u));

    unsigned long long low, high, m = ~0ull;
    asm("sub.cc.u64 %0, %2, %3; subc.u64 %1, %4, 0;" : "=l"(low), "=l"(high) : "l"(3ull), "l"((unsigned long long)t), "l"(9ull));
    __assert(low == 3ull - t && high == (t > 3 ? 8ull : 9ull));

    asm("mad.lo.cc.u64 %0, %2, %3, %4; madc.hi.u64 %1, %2, %3, 0;" : "=l"(low), "=l"(high) : "l"(m), "l"(m), "l"(m));
    __assert(low == 0ull && high == m);
    x[t] += r[3];
}
