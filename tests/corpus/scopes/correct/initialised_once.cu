// The first block to come fills a table, the others wait until it says so.
#include <cuda/atomic>
// warpsmith: grid=3 block=32 arg state=int[1]=zeros arg table=float[32]=zeros arg out=float[96]=zeros
__global__ void once(int *state, float *table, float *out)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> s(*state);
    __shared__ bool mine;
    if (threadIdx.x == 0) {
        int none = 0;
        mine = s.compare_exchange_strong(none, 1, cuda::memory_order_relaxed);
    }
    __syncthreads();
    if (mine) {
        table[threadIdx.x] = sqrtf(threadIdx.x);
        __syncthreads();
        if (threadIdx.x == 0) s.store(2, cuda::memory_order_release);
    } else {
        while (s.load(cuda::memory_order_acquire) != 2) {}
    }
    out[blockIdx.x * 32 + threadIdx.x] = table[31 - threadIdx.x];
}
