// Counters in memory that nobody cleared.
// expect: uninitialized-global line=8 array=bins
// expect: status=1
#include <stdio.h>
__global__ void histogram(const int *data, int *bins, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[data[i] & 15], 1);
}
int main(void)
{
    const int n = 512;
    int *data, *bins, result[16];
    cudaMallocManaged(&data, n * sizeof(int));
    for (int i = 0; i < n; i++) data[i] = i;
    cudaMalloc(&bins, 16 * sizeof(int));
    histogram<<<n / 128, 128>>>(data, bins, n);
    cudaMemcpy(result, bins, sizeof result, cudaMemcpyDeviceToHost);
    printf("%d\n", result[0]);
    return 0;
}
