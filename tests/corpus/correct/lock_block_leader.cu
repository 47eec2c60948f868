// A global spin lock taken by one thread a block around plain read-modify-writes: ordering by fence, atomic, fence.
struct Lock {
    int *mutex;
    __device__ explicit Lock(int *m) : mutex(m) {}
    __device__ void lock()
    {
        while (atomicCAS(mutex, 0, 1) != 0)
            ;
        __threadfence();
    }
    __device__ void unlock()
    {
        __threadfence();
        atomicExch(mutex, 0);
    }
};

// warpsmith: grid=4 block=32 arg n=128 arg a=float[128]=random arg mutex=int[1] arg total=float[1] arg largest=float[1]
// warpsmith: grid=3 block=32 arg n=71 arg a=float[71]=random arg mutex=int[1] arg total=float[1] arg largest=float[1]
__global__ void locked_total(const float *a, int n, int *mutex, float *total, float *largest)
{
    __shared__ float cache[32];
    const int i = threadIdx.x + blockIdx.x * blockDim.x;
    cache[threadIdx.x] = i < n ? a[i] : 0.f;
    __syncthreads();

    if (threadIdx.x == 0) {
        float sum = 0.f;
        for (int k = 0; k < blockDim.x; ++k) sum += cache[k];
        Lock guard(mutex);
        guard.lock();
        *total += sum;
        if (sum > *largest) *largest = sum;
        guard.unlock();
    }
}
