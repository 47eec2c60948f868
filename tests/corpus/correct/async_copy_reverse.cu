// Asynchronous copies of single elements with a guarded tail that is zero-filled by plain stores: one group, one wait, one barrier.
#include <cuda_pipeline.h>

// warpsmith: grid=2 block=32 arg in=int[64]=iota arg out=int[64] arg n=64
// warpsmith: grid=2 block=32 arg in=int[41]=iota arg out=int[64] arg n=41
__global__ void reverse_blocks(const int *in, int *out, int n)
{
    __shared__ int buf[32];
    const int i = blockIdx.x * 32 + threadIdx.x;
    if (i < n)
        __pipeline_memcpy_async(&buf[threadIdx.x], &in[i], sizeof(int));
    else
        buf[threadIdx.x] = 0;
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[i] = buf[31 - threadIdx.x];
}
