// Defect: threads arrive at the barrier without a block barrier behind its initialisation
// expect: race-shared line=10 array=bar
// expect: status=1
#include <cuda_awbarrier_primitives.h>
// warpsmith: grid=1 block=64 arg x=int[64] arg y=int[64]=zeros
__global__ void primitives(const int *x, int *y)
{
    __shared__ __mbarrier_t bar;
    __shared__ int s[64];
    if (threadIdx.x == 0) __mbarrier_init(&bar, blockDim.x);
    s[threadIdx.x] = x[threadIdx.x];
    __mbarrier_token_t token = __mbarrier_arrive(&bar);
    while (!__mbarrier_test_wait(&bar, token)) {}
    y[threadIdx.x] = s[threadIdx.x ^ 32];
}
