// Matrix product: a template over the tile, a struct for matrices as in textbooks, streams with asynchronous copies.
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    int width;
    int height;
    float *elements;
} Matrix;

template <int TILE>
__global__ void MatMulKernel(Matrix A, Matrix B, Matrix C)
{
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y;
    int col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int m = 0; m < (A.width + TILE - 1) / TILE; ++m) {
        int a = m * TILE + threadIdx.x, b = m * TILE + threadIdx.y;
        As[threadIdx.y][threadIdx.x] = row < A.height && a < A.width ? A.elements[row * A.width + a] : 0;
        Bs[threadIdx.y][threadIdx.x] = b < B.height && col < B.width ? B.elements[b * B.width + col] : 0;
        __syncthreads();
#pragma unroll
        for (int e = 0; e < TILE; ++e) sum += As[threadIdx.y][e] * Bs[e][threadIdx.x];
        __syncthreads();
    }
    if (row < C.height && col < C.width) C.elements[row * C.width + col] = sum;
}

void ConstantInit(float *data, int size, float val)
{
    for (int i = 0; i < size; ++i) data[i] = val;
}

int MatrixMultiply(int argc, char **argv, int block_size, const dim3 &dimsA, const dim3 &dimsB)
{
    unsigned int mem_size_A = sizeof(float) * dimsA.x * dimsA.y;
    unsigned int mem_size_B = sizeof(float) * dimsB.x * dimsB.y;
    float *h_A, *h_B, *h_C;
    cudaMallocHost(&h_A, mem_size_A);
    cudaMallocHost(&h_B, mem_size_B);
    cudaStream_t stream;
    ConstantInit(h_A, dimsA.x * dimsA.y, 1.0f);
    ConstantInit(h_B, dimsB.x * dimsB.y, 0.01f);
    dim3 dimsC(dimsB.x, dimsA.y, 1);
    unsigned int mem_size_C = dimsC.x * dimsC.y * sizeof(float);
    cudaMallocHost(&h_C, mem_size_C);
    Matrix d_A, d_B, d_C;
    d_A.width = dimsA.x; d_A.height = dimsA.y;
    d_B.width = dimsB.x; d_B.height = dimsB.y;
    d_C.width = dimsC.x; d_C.height = dimsC.y;
    cudaMalloc(reinterpret_cast<void **>(&d_A.elements), mem_size_A);
    cudaMalloc(reinterpret_cast<void **>(&d_B.elements), mem_size_B);
    cudaMalloc(reinterpret_cast<void **>(&d_C.elements), mem_size_C);
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaMemcpyAsync(d_A.elements, h_A, mem_size_A, cudaMemcpyHostToDevice, stream);
    cudaMemcpyAsync(d_B.elements, h_B, mem_size_B, cudaMemcpyHostToDevice, stream);
    dim3 threads(block_size, block_size);
    dim3 grid((dimsB.x + threads.x - 1) / threads.x, (dimsA.y + threads.y - 1) / threads.y);
    if (block_size == 16) {
        MatMulKernel<16><<<grid, threads, 0, stream>>>(d_A, d_B, d_C);
    } else {
        MatMulKernel<32><<<grid, threads, 0, stream>>>(d_A, d_B, d_C);
    }
    cudaStreamSynchronize(stream);
    cudaMemcpyAsync(h_C, d_C.elements, mem_size_C, cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    bool correct = true;
    for (int i = 0; i < static_cast<int>(dimsC.x * dimsC.y); i++)
        if (fabs(h_C[i] - dimsA.x * 0.01f) > 1e-4) correct = false;
    cudaFreeHost(h_A);
    cudaFreeHost(h_B);
    cudaFreeHost(h_C);
    cudaFree(d_A.elements);
    cudaStreamDestroy(stream);
    return correct ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    int block_size = 16;
    dim3 dimsA(3 * block_size, 2 * block_size + 5, 1);
    dim3 dimsB(4 * block_size - 3, 3 * block_size, 1);
    printf("MatrixA(%d,%d), MatrixB(%d,%d)\n", dimsA.x, dimsA.y, dimsB.x, dimsB.y);
    int result = MatrixMultiply(argc, argv, block_size, dimsA, dimsB);
    exit(result);
}
