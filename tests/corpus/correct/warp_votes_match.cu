// Warp votes and lane matching: all, any, ballot with a partial mask, match_any groups, shuffles by a computed lane.

// warpsmith: grid=1 block=64 arg key=int[64]=iota arg rank=int[64] arg flags=uint[64]
// warpsmith: grid=2 block=32 arg key=int[64]=iota arg rank=int[64] arg flags=uint[64]
__global__ void rank_within_key(const int *key, int *rank, unsigned *flags)
{
    const unsigned full = 0xffffffffu;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned lane = threadIdx.x & 31u;
    const int k = (key[i] * 7) % 5;

    const unsigned peers = __match_any_sync(full, k);
    rank[i] = __popc(peers & ((1u << lane) - 1u));

    unsigned f = 0;
    if (__all_sync(full, k < 5)) f |= 1u;
    if (__any_sync(full, k == 9)) f |= 2u;
    if (lane < 16) f |= __ballot_sync(0x0000ffffu, k > 2) << 8;
    const int leader = __ffs(peers) - 1;
    f += (unsigned)__shfl_sync(full, rank[i] + k, leader) << 24;
    f += __shfl_up_sync(full, f, 1, 8);
    flags[i] = f;
    __syncwarp();
}
