// Every count is below the width of what is shifted, up to the last one.
// warpsmith: grid=1 block=64 arg x=unsigned[64] arg y=u64[64]
__global__ void shifts(unsigned *x, unsigned long long *y)
{
    unsigned i = threadIdx.x;
    x[i] = i < 32 ? 1u << i : 0x80000000u >> (i - 32);
    y[i] = 1ull << i | ~0ull >> (63 - i);
    short small = 1;
    x[i] ^= small << 30;
    x[i] += __funnelshift_l(x[i], i, 40) + __funnelshift_r(x[i], i, 0);
}
