// Fills and frees in the order of a stream that is not named.
#include <cstdio>
#include <cuda_runtime.h>
__global__ void fill(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = i;
}
int main()
{
    const int n = 100;
    int *x;
    cudaMalloc(&x, n * sizeof(int));
    cudaMemsetAsync(x, 0, n * sizeof(int));
    fill<<<(n + 31) / 32, 32>>>(x, n);
    int host[n];
    cudaMemcpy(host, x, sizeof(host), cudaMemcpyDeviceToHost);
    printf("%d\n", host[n - 1]);
    cudaFreeAsync(x, 0);
    return 0;
}
