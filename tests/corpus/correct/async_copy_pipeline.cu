// Two-stage pipeline of asynchronous copies: commit, wait for the older group, barrier, use, barrier before the slot is refilled.
#include <cuda_pipeline.h>
#define TILE 64

// warpsmith: grid=2 block=16 arg in=float[512]=random arg out=float[2] arg tiles=4
// warpsmith: grid=3 block=16 arg in=float[192]=random arg out=float[3] arg tiles=1
__global__ void sum_adjacent_products(const float *in, float *out, int tiles)
{
    __shared__ alignas(16) float stage[2][TILE];
    __shared__ float partial[16];
    const int t = threadIdx.x;
    const float *mine = in + blockIdx.x * tiles * TILE;

    __pipeline_memcpy_async(&stage[0][4 * t], mine + 4 * t, 16);
    __pipeline_commit();

    float acc = 0.0f;
    for (int k = 0; k < tiles; ++k) {
        if (k + 1 < tiles)
            __pipeline_memcpy_async(&stage[(k + 1) & 1][4 * t], mine + (k + 1) * TILE + 4 * t, sizeof(float4));
        __pipeline_commit();       // an empty group at the end keeps the count regular
        __pipeline_wait_prior(1);  // tile k has landed, for this thread
        __syncthreads();           // and for the others
        for (int j = t; j < TILE; j += 16) acc += stage[k & 1][j] * stage[k & 1][(j + 1) % TILE];
        __syncthreads();
    }
    partial[t] = acc;
    __syncthreads();
    if (t == 0) {
        float sum = 0.f;
        for (int i = 0; i < 16; ++i) sum += partial[i];
        out[blockIdx.x] = sum;
    }
}
