// Clusters of blocks, and shared memory of other blocks
#include <cooperative_groups.h>
// warpsmith: grid=4 block=32 arg out=int[128]
__global__ void __cluster_dims__(2, 1, 1) f(int *out) {
    __shared__ int s[32];
    s[threadIdx.x] = threadIdx.x;
    cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    cluster.sync();
    const int *other = cluster.map_shared_rank(s, cluster.block_rank() ^ 1);
    out[blockIdx.x * 32 + threadIdx.x] = other[threadIdx.x];
    cluster.sync();
}
