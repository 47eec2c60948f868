// References for atomic operations, of the device and of the block, with orders.
#include <cuda/atomic>
// warpsmith: grid=2 block=64 arg x=int[3]=zeros
__global__ void count(int *x)
{
    __shared__ int n;
    if (threadIdx.x == 0) n = 0;
    __syncthreads();
    cuda::atomic_ref<int, cuda::thread_scope_device> total(x[0]);
    cuda::atomic_ref<int, cuda::thread_scope_block> own(n);
    total.fetch_add(1, cuda::memory_order_relaxed);
    own.fetch_max((int)threadIdx.x, cuda::std::memory_order_relaxed);
    int expected = 0;
    cuda::atomic_ref<int> first(x[1]);
    if (first.compare_exchange_strong(expected, 7)) x[2] = 1;
    __syncthreads();
    __assert(own.load() == 63);
}
