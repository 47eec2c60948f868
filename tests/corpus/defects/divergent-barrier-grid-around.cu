// Defect: threads of odd numbers end without coming to the barrier of the grid, to which the rest of their block comes.
// expect: divergent-barrier line=14
// expect: status=1
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// warpsmith: grid=2 block=32 arg x=int[64]=iota
__global__ void pairs(int *x)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    cg::grid_group grid = cg::this_grid();
    if (i % 2 == 0) {
        const int other = x[(i + 2) % 64];
        grid.sync();
        x[i] = other;
    }
}
