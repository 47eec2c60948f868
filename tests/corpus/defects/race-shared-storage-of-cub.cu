// The storage of a block's sum serves a second one without a barrier between.
// expect: race-shared line=10 array=storage
// expect: status=1
#include <cub/cub.cuh>
// warpsmith: grid=1 block=64 arg x=int[64] arg y=int[2]
__global__ void twice(const int *x, int *y)
{
    __shared__ cub::BlockReduce<int, 64>::TempStorage storage;
    const int a = cub::BlockReduce<int, 64>(storage).Sum(x[threadIdx.x]);
    const int b = cub::BlockReduce<int, 64>(storage).Sum(2 * x[threadIdx.x]);
    if (threadIdx.x == 0) {
        y[0] = a;
        y[1] = b;
    }
}
