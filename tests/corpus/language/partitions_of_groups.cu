// Partitions of a warp by truth and by label, synchronisation by functions, a copy by the whole block.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

// warpsmith: grid=1 block=64 arg x=int[64]=iota arg y=int[64]
__global__ void parts(const int *x, int *y)
{
    __shared__ int s[64];
    cg::thread_block block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    int t = block.thread_rank();
    bool odd = x[t] % 2 == 1;
    auto half = cg::binary_partition(warp, odd);
    int count = cg::reduce(half, 1, cg::plus<int>());
    __assert(half.size() == 16 && count == 16);
    __assert(half.shfl(t, 0) == t - warp.thread_rank() + odd);
    cg::coalesced_group third = cg::labeled_partition(warp, warp.thread_rank() % 3);
    __assert(third.size() == (warp.thread_rank() % 3 == 2 ? 10 : 11));
    __assert(third.thread_rank() == warp.thread_rank() / 3);
    cg::memcpy_async(block, s, x, sizeof(int) * 64);
    cg::wait(block);
    y[t] = s[63 - t];
    cg::sync(block);
    __assert(y[t] == 63 - t);
}
