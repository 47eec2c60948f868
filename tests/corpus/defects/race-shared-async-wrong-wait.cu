// Defect (kind async): wait_prior(1) leaves the newest group in flight, and there is only one group.
// expect: race-shared line=14 array=tile
// expect: status=1
#include <cuda_pipeline.h>

// warpsmith: grid=1 block=16 arg in=float4[16]=random arg out=float[16]
__global__ void sum_vectors(const float4 *in, float *out)
{
    __shared__ float4 tile[16];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &in[t], sizeof(float4));
    __pipeline_commit();
    __pipeline_wait_prior(1);
    const float first = tile[t].x;
    out[t] = first;
}
