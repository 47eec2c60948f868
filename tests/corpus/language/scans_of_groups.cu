// Scans over the threads of a tile, and one thread of a group.
#include <cassert>
#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

// warpsmith: grid=1 block=64 arg x=int[64]=iota arg y=int[64]
__global__ void scans(const int *x, int *y)
{
    __shared__ int found;
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    int t = block.thread_rank(), first = t - tile.thread_rank(), r = tile.thread_rank();
    int upTo = cg::inclusive_scan(tile, x[t]);
    int before = cg::exclusive_scan(tile, x[t]);
    int most = cg::inclusive_scan(tile, 63 - x[t], [](int a, int b) { return a > b ? a : b; });
    assert(upTo == (r + 1) * first + r * (r + 1) / 2);
    assert(before == upTo - x[t] && most == 63 - first);
    cg::invoke_one(block, [&] { found = 7; });
    block.sync();
    y[t] = upTo + found;
}
