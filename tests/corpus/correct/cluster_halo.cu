// Neighbours of a cluster hand halo elements on through shared memory, with the barrier in two halves around local work.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// warpsmith: grid=8 block=64 arg in=float[512]=random arg out=float[512] arg n=512
__cluster_dims__(4) __global__ void cluster_halo(const float *in, float *out, int n)
{
    __shared__ float tile[64];
    auto cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank(), last = cluster.num_blocks() - 1;
    const int t = threadIdx.x, i = blockIdx.x * 64 + t;
    tile[t] = in[i];
    auto token = cluster.barrier_arrive();
    float sum = 2.0f * in[i];
    cluster.barrier_wait(std::move(token));

    if (t > 0) sum += tile[t - 1];
    else if (rank > 0) sum += cluster.map_shared_rank(tile, rank - 1)[63];
    if (t < 63) sum += tile[t + 1];
    else if (rank < last) sum += *cluster.map_shared_rank(&tile[0], rank + 1);
    out[i] = sum;
    cluster.sync();
}
