// Barrier objects: arrival apart from waiting, copies that land at a barrier, threads that leave it.
#include <cooperative_groups.h>
#include <cuda/barrier>
namespace cg = cooperative_groups;
// warpsmith: grid=2 block=64 arg in=float[128] arg out=float[128]=zeros
__global__ void exchange(const float *in, float *out)
{
    __shared__ float s[64];
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    auto block = cg::this_thread_block();
    if (block.thread_rank() == 0) init(&bar, block.size());
    block.sync();
    int i = blockIdx.x * 64 + threadIdx.x;
    s[threadIdx.x] = in[i];
    auto token = bar.arrive();
    bar.wait(std::move(token));
    out[i] = s[63 - threadIdx.x];
    bar.arrive_and_wait();
    cuda::memcpy_async(block, s, in + blockIdx.x * 64, sizeof(float) * 64, bar);
    bar.arrive_and_wait();
    out[i] += s[(threadIdx.x + 1) % 64];
    if (threadIdx.x >= 32) {
        bar.arrive_and_drop();
        return;
    }
    bar.arrive_and_wait();
    s[threadIdx.x] = 0.0f;
    bar.arrive_and_wait();
    __assert(s[31 - threadIdx.x] == 0.0f);
}
