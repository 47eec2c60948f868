// Defect (kind async): a plain store to the destination while the copy is in flight; either may land last.
// expect: race-shared line=13 array=buf
// expect: status=1
#include <cuda_pipeline.h>

// warpsmith: grid=1 block=32 arg in=float[32]=iota arg out=float[32] arg limit=20
__global__ void mask_tail(const float *in, float *out, int limit)
{
    __shared__ float buf[32];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&buf[t], &in[t], sizeof(float));
    __pipeline_commit();
    if (t + limit < 32) buf[t + limit] = -1.0f;
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = buf[31 - t];
}
