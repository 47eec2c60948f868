// Algorithms of CUB
#include <cub/cub.cuh>
// warpsmith: grid=1 block=32 arg x=int[32]
__global__ void f(int *x)
{
    cub::BlockReduce<int, 32> reduce;
    x[threadIdx.x] = reduce.Sum(1);
}
