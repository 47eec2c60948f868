// Defect: a thread arrives at the barrier object and reads its neighbour's slot before it waits
// expect: race-shared line=12 array=s
// expect: status=1
#include <cuda/barrier>
// warpsmith: grid=1 block=64 arg x=float[64]
__global__ void shifted(float *x)
{
    __shared__ float s[64];
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    if (threadIdx.x == 0) init(&bar, 64);
    __syncthreads();
    s[threadIdx.x] = x[threadIdx.x];
    auto token = bar.arrive();
    x[threadIdx.x] = s[(threadIdx.x + 1) % 64];
    bar.wait(std::move(token));
}
