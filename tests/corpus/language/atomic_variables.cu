// Atomic variables of the device and of a block.
#include <cuda/atomic>
__device__ cuda::atomic<int, cuda::thread_scope_device> total(0);
// warpsmith: grid=2 block=64 arg x=int[128]=zeros
__global__ void count(int *x)
{
    __shared__ cuda::atomic<int, cuda::thread_scope_block> n;
    if (threadIdx.x == 0) n.store(0);
    __syncthreads();
    n.fetch_add(2);
    n++;
    total.fetch_add(1, cuda::std::memory_order_relaxed);
    __syncthreads();
    x[blockIdx.x * 64 + threadIdx.x] = n.load();
    __assert(n.load() == 192);
}
