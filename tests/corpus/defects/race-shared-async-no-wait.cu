// Defect (kind async): a copied element is read before the copy is waited for.
// expect: race-shared line=13 array=buf
// expect: status=1
#include <cuda_pipeline.h>

// warpsmith: grid=1 block=32 arg in=float[32]=iota arg out=float[32]
__global__ void copy_no_wait(const float *in, float *out)
{
    __shared__ float buf[32];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&buf[t], &in[t], sizeof(float));
    __pipeline_commit();
    out[t] = buf[t];
    __pipeline_wait_prior(0);
}
