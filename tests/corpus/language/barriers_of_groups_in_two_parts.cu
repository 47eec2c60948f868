// Groups: coming to a barrier before waiting there, one thread that works for all, whether all have one value, and
// asynchronous copies by numbers of elements and of aligned bytes.
#include <cassert>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <utility>
namespace cg = cooperative_groups;

// warpsmith: grid=2 block=64 arg y=int[128]
__global__ void in_two_parts(int *y)
{
    __shared__ int tile[64];
    cg::thread_block block = cg::this_thread_block();
    tile[threadIdx.x] = 3 * threadIdx.x;
    auto token = block.barrier_arrive();
    int own = blockIdx.x;
    block.barrier_wait(std::move(token));
    y[blockIdx.x * 64 + threadIdx.x] = own + tile[63 - threadIdx.x];
    assert(tile[63 - threadIdx.x] == 189 - 3 * threadIdx.x);
}

// warpsmith: grid=1 block=64 arg count=int[2]=zeros arg y=int[64]
__global__ void one_for_all(int *count, int *y)
{
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int first = cg::invoke_one_broadcast(tile, [&] { return atomicAdd(count, 16); });
    assert(first % 16 == 0 && first < 64);
    assert(tile.shfl(first, 5) == first);
    if (threadIdx.x % 3 == 0) {
        auto some = cg::coalesced_threads();
        int place = cg::invoke_one_broadcast(some, [](int *c, int n) { return atomicAdd(c, n); }, count + 1, (int)some.size());
        assert(place < 22);
    }
    y[first + tile.thread_rank()] = threadIdx.x;
}

// warpsmith: grid=1 block=64 arg y=unsigned[64]
__global__ void all_alike(unsigned *y)
{
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int alike = -1;
    unsigned lanes = tile.match_all(threadIdx.x / 16, alike);
    assert(alike == 1 && lanes == 0xffu);
    lanes = tile.match_all(threadIdx.x / 4, alike);
    assert(alike == 0 && lanes == 0);
    if (threadIdx.x & 1) {
        auto odd = cg::coalesced_threads();
        y[threadIdx.x] = odd.match_all(7ll, alike);
        assert(alike && y[threadIdx.x] == 0xffffu);
        assert(odd.match_all(threadIdx.x, alike) == 0 && !alike);
    }
}

// warpsmith: grid=1 block=64 arg x=int[64]=iota arg y=int[64] arg n=40
__global__ void counted_copies(const int *x, int *y, int n)
{
    __shared__ alignas(16) int tile[64];
    auto block = cg::this_thread_block();
    tile[threadIdx.x] = -1;
    block.sync();
    cg::memcpy_async(block, tile, 64, x, n);
    cg::wait(block);
    assert(tile[threadIdx.x] == (threadIdx.x < n ? (int)threadIdx.x : -1));
    block.sync();
    cg::memcpy_async(block, tile, cuda::aligned_size_t<16>(16), x + 8, cuda::aligned_size_t<16>(32));
    cg::wait(block);
    assert(tile[threadIdx.x] == (threadIdx.x < 16 ? (int)threadIdx.x + 8 : threadIdx.x < n ? (int)threadIdx.x : -1));
    block.sync();
    cg::memcpy_async(block, tile, x, cuda::aligned_size_t<16>(sizeof(int) * 64));
    cg::wait(block);
    y[threadIdx.x] = tile[63 - threadIdx.x];
    assert(tile[63 - threadIdx.x] == 63 - threadIdx.x);
}
