// Defect: only the first half of each block comes to the barrier of the cluster; the others wait at that of the block.
// expect: divergent-barrier line=14
// expect: status=1
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// warpsmith: grid=2 block=64 arg out=int[128]
__cluster_dims__(2) __global__ void half_meets(int *out)
{
    __shared__ int values[64];
    auto cluster = cg::this_cluster();
    values[threadIdx.x] = threadIdx.x;
    if (threadIdx.x < 32) {
        cluster.sync();
    } else {
        __syncthreads();
    }
    out[blockIdx.x * 64 + threadIdx.x] = values[threadIdx.x];
}
