// Defect (kind async): the copy goes to an array of the thread, where the copying unit cannot write.
// expect: invalid-pointer line=11
// expect: status=1
#include <cuda_pipeline.h>

// warpsmith: grid=1 block=32 arg in=float[32]=iota arg out=float[32]
__global__ void copy_to_own(const float *in, float *out)
{
    float own[4] = {};
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&own[t % 4], &in[t], sizeof(float));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[t] = own[t % 4];
}
