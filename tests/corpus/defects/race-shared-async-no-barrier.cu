// Defect (kind async): the wait covers a thread's own copies only; another thread's element is read without a barrier.
// expect: race-shared line=14 array=buf
// expect: status=1
#include <cuda_pipeline.h>

// warpsmith: grid=2 block=32 arg in=int[64]=iota arg out=int[64]
__global__ void reverse_no_barrier(const int *in, int *out)
{
    __shared__ int buf[32];
    const int t = threadIdx.x, base = blockIdx.x * 32;
    __pipeline_memcpy_async(&buf[t], &in[base + t], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[base + t] = buf[31 - t];
}
