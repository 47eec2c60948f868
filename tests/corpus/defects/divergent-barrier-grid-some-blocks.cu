// Defect: every other block ends without coming to the barrier of the grid, which waits for all blocks.
// expect: divergent-barrier line=14
// expect: status=1
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// warpsmith: grid=4 block=32 arg x=int[128]=iota
__global__ void halves(int *x)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    cg::grid_group grid = cg::this_grid();
    if (blockIdx.x % 2 == 0) {
        const int other = x[(i + 64) % 128];
        grid.sync();
        x[i] = other;
    }
}
