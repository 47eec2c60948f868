// The product of two matrices whose sizes are multiples of the block: both tiles are loaded, one operand is read from its own yet.
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

template <int BLOCK_SIZE>
__global__ void MatrixMulCUDA(float *C, const float *A, const float *B, int wA, int wB)
{
    int bx = blockIdx.x;
    int by = blockIdx.y;
    int tx = threadIdx.x;
    int ty = threadIdx.y;

    // Index of the first sub-matrix of A processed by the block, and its step
    int aBegin = wA * BLOCK_SIZE * by;
    int aEnd = aBegin + wA - 1;
    int aStep = BLOCK_SIZE;
    int bBegin = BLOCK_SIZE * bx;
    int bStep = BLOCK_SIZE * wB;

    float Csub = 0;
    for (int a = aBegin, b = bBegin; a <= aEnd; a += aStep, b += bStep) {
        __shared__ float As[BLOCK_SIZE][BLOCK_SIZE];
        __shared__ float Bs[BLOCK_SIZE][BLOCK_SIZE];

        As[ty][tx] = A[a + wA * ty + tx];
        Bs[ty][tx] = B[b + wB * ty + tx];
        __syncthreads();

#pragma unroll
        for (int k = 0; k < BLOCK_SIZE; ++k) Csub += __opt__(A[a + wA * ty + k]) * __opt__(B[b + wB * k + tx]);
        __syncthreads();
    }

    int c = wB * BLOCK_SIZE * by + BLOCK_SIZE * bx;
    C[c + wB * ty + tx] = Csub;
}

static void ConstantInit(float *data, int size, float val)
{
    for (int i = 0; i < size; ++i) data[i] = val + 0.001f * (i % 7);
}

int main(int argc, char **argv)
{
    const int block_size = 32;
    dim3 dimsA(5 * 2 * block_size, 5 * 2 * block_size), dimsB(5 * 4 * block_size, 5 * 2 * block_size);
    if (argc > 1) dimsA.y = block_size * atoi(argv[1]);
    const size_t size_A = dimsA.x * dimsA.y, size_B = dimsB.x * dimsB.y, size_C = dimsB.x * dimsA.y;
    float *h_A = (float *)malloc(size_A * sizeof(float));
    float *h_B = (float *)malloc(size_B * sizeof(float));
    float *h_C = (float *)malloc(size_C * sizeof(float));
    ConstantInit(h_A, (int)size_A, 1.0f);
    ConstantInit(h_B, (int)size_B, 0.01f);

    float *d_A, *d_B, *d_C;
    cudaMalloc(reinterpret_cast<void **>(&d_A), size_A * sizeof(float));
    cudaMalloc(reinterpret_cast<void **>(&d_B), size_B * sizeof(float));
    cudaMalloc(reinterpret_cast<void **>(&d_C), size_C * sizeof(float));
    cudaMemcpy(d_A, h_A, size_A * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_B, h_B, size_B * sizeof(float), cudaMemcpyHostToDevice);

    dim3 threads(block_size, block_size);
    dim3 grid(dimsB.x / threads.x, dimsA.y / threads.y);
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaEvent_t start, stop;
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    cudaDeviceSynchronize();
    MatrixMulCUDA<block_size><<<grid, threads, 0, stream>>>(d_C, d_A, d_B, dimsA.x, dimsB.x);
    cudaEventRecord(start, stream);
    const int nIter = 50;
    for (int j = 0; j < nIter; j++)
        MatrixMulCUDA<block_size><<<grid, threads, 0, stream>>>(d_C, d_A, d_B, dimsA.x, dimsB.x);
    cudaEventRecord(stop, stream);
    cudaEventSynchronize(stop);
    float msecTotal = 0.0f;
    cudaEventElapsedTime(&msecTotal, start, stop);
    if (cudaMemcpy(h_C, d_C, size_C * sizeof(float), cudaMemcpyDeviceToHost) != cudaSuccess) return 2;

    bool correct = true;
    for (unsigned y = 0; y < dimsA.y; y += 3)
        for (unsigned x = 0; x < dimsB.x; x += 5) {
            double sum = 0, magnitude = 0;
            for (unsigned k = 0; k < dimsA.x; k++) {
                double term = (double)h_A[y * dimsA.x + k] * h_B[k * dimsB.x + x];
                sum += term;
                magnitude += fabs(term);
            }
            if (fabs(h_C[y * dimsB.x + x] - sum) > 1e-6 * dimsA.x * magnitude / 10) correct = false;
        }
    printf("%s %.1f us\n", correct ? "passed" : "FAILED", 1e3f * msecTotal / nIter);
    return correct ? EXIT_SUCCESS : EXIT_FAILURE;
}
