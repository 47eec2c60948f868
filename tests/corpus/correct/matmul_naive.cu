// Naive matrix product, one thread an output, with a 2-D guard: the baseline of every other product.
#include <cuda_runtime.h>

// warpsmith: grid=2,2 block=16,16 arg M=32 arg N=32 arg K=32 arg alpha=1.5 arg beta=0.5 arg A=float[32][32]=random arg B=float[32][32]=random arg C=float[32][32]=random
// warpsmith: grid=2,3 block=8,8 arg M=17 arg N=13 arg K=21 arg alpha=1 arg beta=0 arg A=float[17][21]=random arg B=float[21][13]=random arg C=float[17][13]
__global__ void sgemm_naive(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C)
{
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;

    if (y < M && x < N) {
        float tmp = 0.0;
        for (int i = 0; i < K; ++i)
            tmp += A[y * K + i] * B[i * N + x];
        C[y * N + x] = alpha * tmp + beta * C[y * N + x];
    }
}

int main()
{
    const int n = 128;
    float *a, *b, *c;
    cudaMalloc(&a, n * n * sizeof(float));
    cudaMalloc(&b, n * n * sizeof(float));
    cudaMalloc(&c, n * n * sizeof(float));
    dim3 block(16, 16), grid((n + 15) / 16, (n + 15) / 16);
    sgemm_naive<<<grid, block>>>(n, n, n, 1.0f, a, b, 0.0f, c);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
