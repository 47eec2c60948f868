// Defect (kind async): a stage of the pipeline is read before the wait for it
// expect: race-shared line=17 array=s
// expect: status=1
#include <cooperative_groups.h>
#include <cuda/pipeline>
namespace cg = cooperative_groups;
// warpsmith: grid=1 block=64 arg in=float[64] arg out=float[64]=zeros
__global__ void early(const float *in, float *out)
{
    __shared__ float s[64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 1> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    pipe.producer_acquire();
    cuda::memcpy_async(block, s, in, sizeof(float) * 64, pipe);
    pipe.producer_commit();
    out[threadIdx.x] = s[63 - threadIdx.x];
    pipe.consumer_wait();
    pipe.consumer_release();
}
