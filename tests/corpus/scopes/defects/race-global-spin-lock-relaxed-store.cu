// Defect: the lock is given back by a relaxed store.
// expect: race-global line=19 array=length
// expect: status=1
#include <cuda/atomic>
struct Lock {
    cuda::atomic<int, cuda::thread_scope_device> held;
    __device__ void lock() {
        while (held.exchange(1, cuda::memory_order_acquire) != 0) {}
    }
    __device__ void unlock() {
        held.store(0, cuda::memory_order_relaxed);
    }
};
__device__ Lock guard;
// warpsmith: grid=5 block=1 arg list=int[5]=zeros arg length=int[1]=zeros
__global__ void append(int *list, int *length)
{
    guard.lock();
    list[(*length)++] = blockIdx.x;
    guard.unlock();
}
