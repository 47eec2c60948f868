// Defect: a block may end while its neighbour still reads its shared memory: the last barrier of the cluster is missing.
// expect: dangling line=16 array=tile
// expect: status=1
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// warpsmith: grid=4 block=64 arg in=float[256]=random arg out=float[256]
__cluster_dims__(2) __global__ void cluster_halo(const float *in, float *out)
{
    __shared__ float tile[64];
    auto cluster = cg::this_cluster();
    const int i = blockIdx.x * 64 + threadIdx.x;
    tile[threadIdx.x] = in[i];
    cluster.sync();
    const float *other = cluster.map_shared_rank(tile, cluster.block_rank() ^ 1);
    out[i] = other[threadIdx.x] + tile[threadIdx.x];
}
