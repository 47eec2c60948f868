// Defect: the flag is stored relaxed.
// expect: race-global line=17 array=data
// expect: status=1
#include <cuda/atomic>
// warpsmith: grid=2 block=32 arg data=float[32]=zeros arg flag=int[1]=zeros arg out=float[32]=zeros
__global__ void publish(float *data, int *flag, float *out)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
    if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x * 0.5f;
        __syncthreads();
        if (threadIdx.x == 0) ready.store(1, cuda::memory_order_relaxed);
    } else {
        if (threadIdx.x == 0)
            while (ready.load(cuda::memory_order_acquire) == 0) {}
        __syncthreads();
        out[threadIdx.x] = data[31 - threadIdx.x];
    }
}
