// Defect: one block does not take the semaphore.
// expect: race-global line=10 array=sum
// expect: status=1
#include <cuda/semaphore>
__device__ cuda::binary_semaphore<cuda::thread_scope_device> place{1};
// warpsmith: grid=4 block=1 arg sum=int[1]=zeros
__global__ void one_at_a_time(int *sum)
{
    if (blockIdx.x != 2) place.acquire();
    *sum += blockIdx.x;
    if (blockIdx.x != 2) place.release();
}
