// Cooperative groups: thread_block sync and rank, a 32-wide tile with shfl_down and sync, one shared slot a tile.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

template <typename Tile>
__device__ int tile_sum(Tile g, int v)
{
    for (int i = g.size() / 2; i > 0; i /= 2) v += g.shfl_down(v, i);
    return v;
}

// warpsmith: grid=2 block=64 arg in=int[128]=iota arg out=int[2] arg n=128
// warpsmith: grid=2 block=96 arg in=int[150]=iota arg out=int[2] arg n=150
__global__ void cg_reduce(const int *in, int *out, int n)
{
    __shared__ int tile_sums[32];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);

    const int i = blockIdx.x * blockDim.x + block.thread_rank();
    const int sum = tile_sum(tile, i < n ? in[i] : 0);
    if (tile.thread_rank() == 0) tile_sums[threadIdx.x / 32] = sum;
    block.sync();

    if (block.thread_rank() == 0) {
        int total = 0;
        for (unsigned w = 0; w < block.size() / 32; ++w) total += tile_sums[w];
        out[blockIdx.x] = total;
    }
}
