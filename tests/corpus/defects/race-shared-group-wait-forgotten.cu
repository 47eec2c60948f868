// Defect: a thread reads its neighbour's element after it has come to the block's barrier, not after it has waited.
// expect: race-shared line=14 array=tile
// expect: status=1
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// warpsmith: grid=1 block=64 arg in=float[64]=random arg out=float[64]
__global__ void reversed(const float *in, float *out)
{
    __shared__ float tile[64];
    auto block = cg::this_thread_block();
    tile[threadIdx.x] = in[threadIdx.x];
    auto token = block.barrier_arrive();
    float other = tile[63 - threadIdx.x];
    block.barrier_wait(static_cast<decltype(token) &&>(token));
    out[threadIdx.x] = other;
}
