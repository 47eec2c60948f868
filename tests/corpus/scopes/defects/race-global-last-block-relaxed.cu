// Defect: the count of blocks is relaxed.
// expect: race-global line=21 array=part
// expect: status=1
#include <cuda/atomic>
__device__ cuda::atomic<unsigned, cuda::thread_scope_device> arrived;
// warpsmith: grid=4 block=64 arg x=float[256] arg part=float[4]=zeros arg sum=float[1]=zeros
__global__ void total(const float *x, float *part, float *sum)
{
    __shared__ float s[64];
    s[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
    __syncthreads();
    for (int d = 32; d > 0; d /= 2) {
        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        part[blockIdx.x] = s[0];
        bool last = arrived.fetch_add(1, cuda::memory_order_relaxed) == gridDim.x - 1;
        if (!last) return;
        float all = 0.0f;
        for (int b = 0; b < gridDim.x; b++) all += part[b];
        *sum = all;
    }
}
