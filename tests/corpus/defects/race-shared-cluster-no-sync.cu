// Defect: blocks add to the bins of others before those have set them to zero: __syncthreads where the cluster has to meet.
// expect: race-shared line=19 array=part
// expect: uninitialized-shared line=19 array=part
// expect: status=1
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// warpsmith: grid=4 block=32 arg in=int[512]=iota arg bins=int[64]=zeros arg n=512
__cluster_dims__(2, 1, 1) __global__ void cluster_histogram(const int *in, int *bins, int n)
{
    __shared__ int part[32];
    cg::cluster_group cluster = cg::this_cluster();
    part[threadIdx.x] = 0;
    __syncthreads();

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const int bin = in[i] * 7 % 64;
        int *there = cluster.map_shared_rank(part, bin / 32);
        atomicAdd(there + bin % 32, 1);
    }
    cluster.sync();
    atomicAdd(&bins[cluster.block_rank() * 32 + threadIdx.x], part[threadIdx.x]);
}
