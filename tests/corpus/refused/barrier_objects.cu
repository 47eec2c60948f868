// Barrier objects
#include <cuda/barrier>
// warpsmith: grid=1 block=32 arg x=float[32]
__global__ void f(float *x)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    bar.arrive_and_wait();
    x[threadIdx.x] = 1;
}
