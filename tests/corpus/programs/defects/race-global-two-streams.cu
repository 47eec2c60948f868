// Defect: the second stream reads what the first one writes, and no event is between them.
// expect: race-global line=34
// expect: race-global line=35
// expect: status=1
#include <cuda_runtime.h>

__global__ void squares(int n, int *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = i * i;
}

__global__ void mirror(int n, const int *x, int *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[n - 1 - i];
}

int main()
{
    const int n = 1000;
    int *host, *x, *y;
    cudaStream_t streams[3];
    cudaMallocHost(&host, n * sizeof(int));
    cudaMalloc(&x, n * sizeof(int));
    cudaMalloc(&y, n * sizeof(int));
    for (int i = 0; i < 2; i++)
        cudaStreamCreate(&streams[i]);
    cudaStreamCreateWithFlags(&streams[2], cudaStreamNonBlocking);

    dim3 block(128), grid((n + 127) / 128);
    squares<<<grid, block, 0, streams[0]>>>(n, x);
    // The copy waits for nothing, either.
    mirror<<<grid, block, 0, streams[1]>>>(n, x, y);
    cudaMemcpyAsync(host, y, n * sizeof(int), cudaMemcpyDeviceToHost, streams[2]);
    cudaDeviceSynchronize();
    for (int i = 0; i < 3; i++)
        cudaStreamDestroy(streams[i]);
    cudaFree(x);
    cudaFree(y);
    cudaFreeHost(host);
    return 0;
}
