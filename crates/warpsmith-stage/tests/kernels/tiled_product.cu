// Product of matrices as a template over the block's side, timed with events.
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

namespace bench {

template <int BLOCK_SIZE>
__global__ void __launch_bounds__(BLOCK_SIZE * BLOCK_SIZE)
MatrixMul(float *C, const float *A, const float *B, int hA, int wA, int wB)
{
    int bx = blockIdx.x, by = blockIdx.y;
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = by * BLOCK_SIZE + ty, col = bx * BLOCK_SIZE + tx;
    float Csub = 0;
    __shared__ float As[BLOCK_SIZE][BLOCK_SIZE];
    __shared__ float Bs[BLOCK_SIZE][BLOCK_SIZE];
    for (int a = 0; a < wA; a += BLOCK_SIZE) {
        if (row < hA && a + tx < wA) As[ty][tx] = A[wA * row + a + tx];
        if (a + ty < wA && col < wB) Bs[ty][tx] = B[wB * (a + ty) + col];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BLOCK_SIZE; ++k)
            if (row < hA && col < wB && a + k < wA)
                Csub += __opt__(A[wA * row + a + k]) * __opt__(B[wB * (a + k) + col]);
        __syncthreads();
    }
    if (row < hA && col < wB) C[wB * row + col] = Csub;
}

} // namespace bench

int main()
{
    const int hA = 160, wA = 96, wB = 224;
    std::vector<float> a(hA * wA, 1.0f), b(wA * wB, 0.01f), c(hA * wB);
    float *d_A, *d_B, *d_C;
    cudaMalloc(&d_A, a.size() * 4);
    cudaMalloc(&d_B, b.size() * 4);
    cudaMalloc(&d_C, c.size() * 4);
    cudaMemcpy(d_A, a.data(), a.size() * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(d_B, b.data(), b.size() * 4, cudaMemcpyHostToDevice);
    cudaEvent_t start, stop;
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    cudaEventRecord(start);
    bench::MatrixMul<16><<<dim3(wB / 16, hA / 16), dim3(16, 16)>>>(d_C, d_A, d_B, hA, wA, wB);
    cudaEventRecord(stop);
    cudaEventSynchronize(stop);
    float ms = 0;
    cudaEventElapsedTime(&ms, start, stop);
    cudaMemcpy(c.data(), d_C, c.size() * 4, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (float v : c) wrong += v < 0.95f || v > 0.97f;
    printf("%s, %.3f ms\n", wrong ? "FAIL" : "PASS", ms);
    return wrong != 0;
}
