// Defect (kind async): the slot is refilled by a new copy while other threads may still read it; the barrier at the loop end is missing.
// expect: race-shared line=13 array=slot
// expect: status=1
#include <cuda_pipeline.h>

// warpsmith: grid=1 block=32 arg in=int[128]=iota arg out=int[32] arg tiles=4
__global__ void refill(const int *in, int *out, int tiles)
{
    __shared__ int slot[32];
    const int t = threadIdx.x;
    int acc = 0;
    for (int k = 0; k < tiles; ++k) {
        __pipeline_memcpy_async(&slot[t], &in[k * 32 + t], sizeof(int));
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        acc += slot[(t + 5) & 31];
    }
    out[t] = acc;
}
