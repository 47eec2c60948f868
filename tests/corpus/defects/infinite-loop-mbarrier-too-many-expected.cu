// Defect: the barrier expects every thread of the block, but only one warp arrives
// expect: infinite-loop line=12
// expect: status=1
#include <cuda_awbarrier_primitives.h>
// warpsmith: grid=1 block=64 arg y=int[64]=zeros
__global__ void waits_for_ever(int *y)
{
    __shared__ __mbarrier_t bar;
    if (threadIdx.x == 0) __mbarrier_init(&bar, blockDim.x);
    __syncthreads();
    if (threadIdx.x < 32) __mbarrier_arrive(&bar);
    while (!__mbarrier_test_wait_parity(&bar, 0)) {}
    y[threadIdx.x] = threadIdx.x;
}
