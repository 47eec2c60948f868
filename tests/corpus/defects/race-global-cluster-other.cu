// Defect: the barrier of a cluster does not reach the neighbour that belongs to another cluster.
// expect: race-global line=13 array=x
// expect: status=1
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// warpsmith: grid=4 block=32 arg x=int[128]=iota arg y=int[128]
__cluster_dims__(2) __global__ void next_block(int *x, int *y)
{
    const int i = blockIdx.x * 32 + threadIdx.x;
    x[i] += 1;
    cg::this_cluster().sync();
    y[i] = x[(i + 32) % 128];
}
