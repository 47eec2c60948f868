// Partitions of several warps that do not divide their group
// warpsmith: grid=1 block=64 arg x=int[64]
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void f(int *x) {
    auto tile = cg::tiled_partition<48>(cg::this_thread_block());
    x[threadIdx.x] = tile.size();
}
