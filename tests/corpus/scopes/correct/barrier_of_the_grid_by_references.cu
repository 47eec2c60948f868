// A barrier of all blocks from an atomic variable, used twice.
#include <cuda/atomic>
__device__ void meet(unsigned *count, unsigned wanted)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        cuda::atomic_ref<unsigned, cuda::thread_scope_device> c(*count);
        c.fetch_add(1, cuda::memory_order_release);
        while (c.load(cuda::memory_order_acquire) < wanted) {}
    }
    __syncthreads();
}
// warpsmith: grid=3 block=32 arg count=uint[1]=zeros arg a=int[96] arg b=int[96]=zeros arg c=int[96]=zeros
__global__ void rotate_twice(unsigned *count, const int *a, int *b, int *c)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    b[(i + 32) % 96] = a[i];
    meet(count, 3);
    c[i] = b[95 - i];
    meet(count, 6);
    b[i] = c[95 - i];
}
