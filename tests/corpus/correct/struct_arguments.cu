// Structs with pointers as kernel arguments, given field by field
struct Span {
    const float *data;
    int size;
};

struct Params {
    Span in;
    float *out;
    float4 scale;
};

// warpsmith: grid=2 block=32 arg p.in.data=float[50]=random arg p.in.size=50 arg p.out=float[50] arg p.scale={1,2,3,4}
__global__ void scaled(Params p)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < p.in.size) p.out[i] = p.in.data[i] * p.scale.w;
}

struct Lock {
    int *mutex;
    __device__ void lock()
    {
        while (atomicCAS(mutex, 0, 1) != 0) {}
        __threadfence();
    }
    __device__ void unlock()
    {
        __threadfence();
        atomicExch(mutex, 0);
    }
};

// warpsmith: grid=4 block=32 arg lock.mutex=int[1]=zeros arg total=float[1]=zeros arg x=float[128]=random
__global__ void locked_sum(Lock lock, float *total, const float *x)
{
    float v = x[blockIdx.x * 32 + threadIdx.x];
    for (int o = 16; o; o /= 2) v += __shfl_xor_sync(~0u, v, o);
    if (threadIdx.x == 0) {
        lock.lock();
        *total += v;
        lock.unlock();
    }
}
