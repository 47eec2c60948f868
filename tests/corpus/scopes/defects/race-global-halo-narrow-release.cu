// Defect: edges are fenced for the own block, neighbours read them.
// expect: race-global line=19 array=mid
// expect: status=1
#define B 32
// warpsmith: grid=4 block=32 arg in=float[128] arg mid=float[128]=zeros arg out=float[128]=zeros arg flag=uint[4]=zeros
__global__ void twice(const float *in, float *mid, float *out, unsigned *flag)
{
    int i = blockIdx.x * B + threadIdx.x, n = gridDim.x * B;
    mid[i] = 0.5f * in[i] + (i > 0 ? 0.25f * in[i - 1] : 0.0f) + (i + 1 < n ? 0.25f * in[i + 1] : 0.0f);
    __threadfence_block();
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicExch(&flag[blockIdx.x], 1u);
        if (blockIdx.x > 0) while (atomicAdd(&flag[blockIdx.x - 1], 0u) == 0) {}
        if (blockIdx.x + 1 < gridDim.x) while (atomicAdd(&flag[blockIdx.x + 1], 0u) == 0) {}
        __threadfence();
    }
    __syncthreads();
    out[i] = 0.5f * mid[i] + (i > 0 ? 0.25f * mid[i - 1] : 0.0f) + (i + 1 < n ? 0.25f * mid[i + 1] : 0.0f);
}
