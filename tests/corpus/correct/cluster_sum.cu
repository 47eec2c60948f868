// A sum over a cluster in two dimensions: the first block reads what the others left in dynamic shared memory.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

template <int N>
__device__ int block_sum(int *values)
{
    for (int s = N / 2; s > 0; s /= 2) {
        if (threadIdx.x < s) values[threadIdx.x] += values[threadIdx.x + s];
        __syncthreads();
    }
    return values[0];
}

// warpsmith: grid=4,4 block=32 shared=128 arg in=int[512]=iota arg out=int[4] arg n=512
__cluster_dims__(2, 2, 1) __global__ void cluster_sum(const int *in, int *out, int n)
{
    extern __shared__ int values[];
    cg::cluster_group cluster = cg::this_cluster();
    const cg::grid_group grid = cg::this_grid();
    const unsigned block = blockIdx.y * gridDim.x + blockIdx.x;
    values[threadIdx.x] = in[block * 32 + threadIdx.x];
    __syncthreads();
    block_sum<32>(values);
    cluster.sync();
    if (cluster.thread_rank() == 0) {
        int sum = 0;
        for (unsigned r = 0; r < cluster.num_blocks(); r++) {
            const int *of = cluster.map_shared_rank(values, r);
            assert(cluster.query_shared_rank(of) == r);
            sum += of[0];
        }
        out[grid.cluster_rank()] = sum;
    }
    cluster.sync();
}
