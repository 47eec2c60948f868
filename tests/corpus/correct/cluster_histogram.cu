// A histogram spread over the shared memory of a cluster: each block owns a part of the bins, and all add to all parts.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

#define BINS 32

// warpsmith: grid=4 block=32 arg in=int[512]=iota arg bins=int[64]=zeros arg n=512
__cluster_dims__(2, 1, 1) __global__ void cluster_histogram(const int *in, int *bins, int n)
{
    __shared__ int part[BINS];
    cg::cluster_group cluster = cg::this_cluster();
    part[threadIdx.x] = 0;
    cluster.sync();

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const int bin = in[i] * 7 % (2 * BINS);
        int *there = cluster.map_shared_rank(part, bin / BINS);
        atomicAdd(there + bin % BINS, 1);
    }
    cluster.sync();
    atomicAdd(&bins[cluster.block_rank() * BINS + threadIdx.x], part[threadIdx.x]);
}
