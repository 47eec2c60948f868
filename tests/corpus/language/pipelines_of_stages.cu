// Pipelines: two stages that a block fills and empties together, and one that each thread has for itself.
#include <cooperative_groups.h>
#include <cuda/pipeline>
namespace cg = cooperative_groups;
// warpsmith: grid=1 block=64 arg n=5 arg in=float[320] arg out=float[320]=zeros
__global__ void reversed(const float *in, float *out, int n)
{
    constexpr int STAGES = 2;
    __shared__ float s[STAGES][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    for (int c = 0, f = 0; c < n; c++) {
        for (; f < n && f < c + STAGES; f++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, s[f % STAGES], in + f * 64, sizeof(float) * 64, pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        __assert(s[c % STAGES][63 - threadIdx.x] == in[c * 64 + 63 - threadIdx.x]);
        out[c * 64 + threadIdx.x] = s[c % STAGES][63 - threadIdx.x];
        pipe.consumer_release();
    }
    // Giving a stage back waits for nobody.
    block.sync();
    cuda::pipeline<cuda::thread_scope_thread> own = cuda::make_pipeline();
    own.producer_acquire();
    cuda::memcpy_async(&s[0][threadIdx.x], &in[threadIdx.x], sizeof(float), own);
    own.producer_commit();
    own.consumer_wait();
    __assert(s[0][threadIdx.x] == in[threadIdx.x]);
    own.consumer_release();
}
