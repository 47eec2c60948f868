// Sequential-address reduction in dynamic shared memory, first add during load: extern arrays and their launch size.
#include <cuda_runtime.h>
#include <cstdio>

// warpsmith: grid=2 block=64 shared=256 arg n=256 arg g_in=float[256]=random arg g_out=float[2]
// warpsmith: grid=3 block=32 shared=128 arg n=175 arg g_in=float[175]=random arg g_out=float[3]
__global__ void reduce_sequential(const float *__restrict__ g_in, float *__restrict__ g_out, unsigned n)
{
    extern __shared__ float sdata[];
    const unsigned tid = threadIdx.x;
    const unsigned i = blockIdx.x * (blockDim.x * 2) + tid;

    float v = 0.f;
    if (i < n) v = g_in[i];
    if (i + blockDim.x < n) v += g_in[i + blockDim.x];
    sdata[tid] = v;
    __syncthreads();

    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s)
            sdata[tid] += sdata[tid + s];
        __syncthreads();
    }
    if (tid == 0)
        g_out[blockIdx.x] = sdata[0];
}

int main()
{
    const unsigned n = 1 << 16, threads = 256, blocks = n / (2 * threads);
    float *in = nullptr, *out = nullptr;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, blocks * sizeof(float));
    cudaMemset(in, 0, n * sizeof(float));
    reduce_sequential<<<blocks, threads, threads * sizeof(float)>>>(in, out, n);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    cudaFree(in);
    cudaFree(out);
    return 0;
}
