// Defect: the second half of each tile is never written, and the other block reads all of it.
// expect: uninitialized-shared line=15 array=tile
// expect: status=1
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// warpsmith: grid=2 block=64 arg out=int[128]
__cluster_dims__(2) __global__ void half_written(int *out)
{
    __shared__ int tile[64];
    auto cluster = cg::this_cluster();
    if (threadIdx.x < 32) tile[threadIdx.x] = threadIdx.x;
    cluster.sync();
    const int *other = cluster.map_shared_rank(tile, 1 - cluster.block_rank());
    out[blockIdx.x * 64 + threadIdx.x] = other[threadIdx.x];
    cluster.sync();
}
