// Defect: the sums begin with what the host has copied without setting it; the copy of the results, which nothing has set either, is
// none, since the kernel writes them first.
// expect: uninitialized-global line=13 array=d_sum
// expect: status=1
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void rows(int n, const float *a, float *sum, float *last)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    last[i] = 0;
    for (int j = 0; j < n; j++) sum[i] += a[i * n + j];
    for (int j = 0; j < n; j++) last[i] += a[j * n + i];
}

int main()
{
    const int n = 100;
    float *a = (float *)malloc(n * n * sizeof(float)), *sum = (float *)malloc(n * sizeof(float)), *last = new float[n];
    for (int i = 0; i < n * n; i++) a[i] = i % 7;
    float *d_a, *d_sum, *d_last;
    cudaMalloc(&d_a, n * n * sizeof(float));
    cudaMalloc(&d_sum, n * sizeof(float));
    cudaMalloc(&d_last, n * sizeof(float));
    cudaMemcpy(d_a, a, n * n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_sum, sum, n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_last, last, n * sizeof(float), cudaMemcpyHostToDevice);
    rows<<<2, 64>>>(n, d_a, d_sum, d_last);
    cudaMemcpy(sum, d_sum, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    free(a);
}
