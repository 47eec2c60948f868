// Bit tricks: reversal permutation, clz, ffs, popc, byte_perm, funnel shift and 64-bit variants, no shared memory.
__device__ unsigned reverse_bits(unsigned v, int bits)
{
    unsigned r = 0;
    for (int b = 0; b < bits; ++b) {
        r = (r << 1) | (v & 1u);
        v >>= 1;
    }
    return r;
}

// warpsmith: grid=2 block=32 arg in=uint[64]=random arg permuted=uint[64] arg digest=ulong[64] arg bits=6
// warpsmith: grid=1 block=16 arg in=uint[16]=iota arg permuted=uint[16] arg digest=ulong[16] arg bits=4
__global__ void bit_reversal(const unsigned *in, unsigned *permuted, unsigned long long *digest, int bits)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned v = in[i];
    permuted[reverse_bits(i, bits)] = v;

    unsigned long long wide = ((unsigned long long)__brev(v) << 32) | __byte_perm(v, i, 0x0123);
    wide ^= (unsigned long long)__funnelshift_l(v, ~v, 7) << (__clz(v | 1u) & 15);
    wide += __popcll(wide) * 0x9E3779B97F4A7C15ull;
    digest[i] = wide ^ (wide >> (__ffs(v) + 1)) ^ (unsigned long long)__clzll(wide);
}
