// Defect: consumers give a stage back before they have read it
// expect: race-shared line=24 array=tile
// expect: status=1
#include <cooperative_groups.h>
#include <cuda/pipeline>
namespace cg = cooperative_groups;
// warpsmith: grid=1 block=64 arg in=float[256] arg out=float[256]=zeros
__global__ void roles(const float *in, float *out)
{
    __shared__ float tile[2][32];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    auto role = threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipe = cuda::make_pipeline(block, &state, role);
    int lane = threadIdx.x % 32;
    for (int i = 0; i < 8; i++) {
        if (threadIdx.x < 32) {
            pipe.producer_acquire();
            tile[i % 2][lane] = in[i * 32 + lane];
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            pipe.consumer_release();
            out[i * 32 + lane] = tile[i % 2][31 - lane];
        }
    }
}
