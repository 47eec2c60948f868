// Copies and fills that a kernel asks for: they come when its grid has ended, in the order of its launches.
// nvcc: -rdc=true
#include <cassert>
#include <cuda_runtime.h>

__global__ void double_all(int n, int *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}

__global__ void drive(int n, int *x, int *y, unsigned char *flags)
{
    if (threadIdx.x == 0) {
        cudaMemsetAsync(flags, 7, n, 0);
        double_all<<<(n + 63) / 64, 64>>>(n, x);
        cudaMemcpyAsync(y, x, n * sizeof(int), cudaMemcpyDeviceToDevice, 0);
        double_all<<<(n + 63) / 64, 64>>>(n, x);
        cudaMemcpy2DAsync(x + n, 2 * sizeof(int), y, sizeof(int), sizeof(int), n, cudaMemcpyDeviceToDevice);
    }
}

int main()
{
    const int n = 100;
    int host[3 * n], copy[n], *x, *y;
    unsigned char flags[n], *f;
    for (int i = 0; i < 3 * n; i++) host[i] = i;
    cudaMalloc(&x, sizeof(host));
    cudaMalloc(&y, sizeof(copy));
    cudaMalloc(&f, n);
    cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice);
    drive<<<1, 32>>>(n, x, y, f);
    cudaMemcpy(copy, y, sizeof(copy), cudaMemcpyDeviceToHost);
    cudaMemcpy(host, x, sizeof(host), cudaMemcpyDeviceToHost);
    cudaMemcpy(flags, f, n, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) {
        assert(copy[i] == 2 * i && host[i] == 4 * i && flags[i] == 7);
        assert(host[n + 2 * i] == 2 * i && (i == n - 1 || host[n + 2 * i + 1] == n + 2 * i + 1));
    }
}
