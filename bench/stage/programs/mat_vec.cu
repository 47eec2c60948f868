// A matrix times a vector, a row a thread, the plan left to the tool (`--auto`).
#include <cmath>
#include <cstdio>
#include <vector>

__global__ void matVec(const float *A, const float *x, float *y, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0.0f;
        for (int k = 0; k < cols; k++) sum += A[row * cols + k] * x[k];
        y[row] = sum;
    }
}

int main()
{
    const int rows = 16384, cols = 4096;
    std::vector<float> A((size_t)rows * cols), x(cols), y(rows);
    for (size_t i = 0; i < A.size(); i++) A[i] = (float)(i % 17) - 8.0f;
    for (int i = 0; i < cols; i++) x[i] = (float)(i % 5) - 2.0f;
    float *d_A, *d_x, *d_y;
    cudaMalloc(&d_A, A.size() * sizeof(float));
    cudaMalloc(&d_x, cols * sizeof(float));
    cudaMalloc(&d_y, rows * sizeof(float));
    cudaMemcpy(d_A, A.data(), A.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_x, x.data(), cols * sizeof(float), cudaMemcpyHostToDevice);
    const int threads = 128;
    cudaEvent_t start, stop;
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    matVec<<<(rows + threads - 1) / threads, threads>>>(d_A, d_x, d_y, rows, cols);
    cudaEventRecord(start);
    for (int i = 0; i < 10; i++) matVec<<<(rows + threads - 1) / threads, threads>>>(d_A, d_x, d_y, rows, cols);
    cudaEventRecord(stop);
    cudaEventSynchronize(stop);
    float ms = 0;
    cudaEventElapsedTime(&ms, start, stop);
    if (cudaMemcpy(y.data(), d_y, rows * sizeof(float), cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
    int wrong = 0;
    for (int r = 0; r < rows; r++) {
        double sum = 0;
        for (int k = 0; k < cols; k++) sum += (double)A[(size_t)r * cols + k] * x[k];
        wrong += std::fabs(y[r] - sum) > 1e-2;
    }
    printf("%s %.1f us\n", wrong ? "FAILED" : "passed", 1e3f * ms / 10);
    return wrong != 0;
}
