// Pipelines whose warps have roles, semaphores and latches of libcu++.
#include <cooperative_groups.h>
#include <cuda/pipeline>
#include <cuda/latch>
#include <cuda/semaphore>
namespace cg = cooperative_groups;
// warpsmith: grid=2 block=64 arg in=float[512] arg out=float[512]=zeros
__global__ void roles(const float *in, float *out)
{
    constexpr int STAGES = 2;
    __shared__ float tile[STAGES][32];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    auto block = cg::this_thread_block();
    const bool producer = threadIdx.x < 32;
    auto pipe = cuda::make_pipeline(block, &state, producer ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    int lane = threadIdx.x % 32;
    for (int i = 0; i < 8; i++) {
        int at = blockIdx.x * 256 + i * 32;
        if (producer) {
            pipe.producer_acquire();
            cuda::memcpy_async(&tile[i % STAGES][lane], &in[at + lane], sizeof(float), pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            out[at + lane] = tile[i % STAGES][31 - lane];
            __assert(out[at + lane] == in[at + 31 - lane]);
            pipe.consumer_release();
        }
    }
}
__device__ cuda::counting_semaphore<cuda::thread_scope_device, 2> places{1};
// warpsmith: grid=3 block=1 arg sum=int[1]=zeros
__global__ void one_at_a_time(int *sum)
{
    places.acquire();
    *sum += blockIdx.x + 1;
    places.release();
}
