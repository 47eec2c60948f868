// `cg::reduce` of a whole block
// warpsmith: grid=1 block=64 arg x=int[64]
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void f(int *x) {
    auto block = cg::this_thread_block();
    x[threadIdx.x] = cg::reduce(block, x[threadIdx.x], cg::plus<int>());
}
