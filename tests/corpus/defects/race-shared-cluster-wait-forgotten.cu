// Defect: the block reads its neighbour's tile after it has arrived, not after it has waited.
// expect: race-shared line=18 array=tile
// expect: uninitialized-shared line=18 array=tile
// expect: status=1
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// warpsmith: grid=4 block=64 arg in=float[256]=random arg out=float[256]
__cluster_dims__(2) __global__ void cluster_halo(const float *in, float *out)
{
    __shared__ float tile[64];
    auto cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank();
    const int i = blockIdx.x * 64 + threadIdx.x;
    tile[threadIdx.x] = in[i];
    cluster.barrier_arrive();
    const float *other = cluster.map_shared_rank(tile, rank ^ 1);
    const float v = other[threadIdx.x];
    cluster.barrier_wait();
    out[i] = v + tile[threadIdx.x];
    cluster.sync();
}
