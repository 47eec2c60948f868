// Host code as development environments make it: every call is asked for its status, and errors jump to one end.
#include <stdio.h>

__global__ void add(int *c, const int *a, const int *b)
{
    int i = threadIdx.x;
    c[i] = a[i] + b[i];
}

static cudaError_t add_with_device(int *c, const int *a, const int *b, unsigned size)
{
    int *dev_a = 0, *dev_b = 0, *dev_c = 0;
    cudaError_t status;

    status = cudaSetDevice(0);
    if (status != cudaSuccess) {
        fprintf(stderr, "cudaSetDevice failed\n");
        goto Error;
    }
    status = cudaMalloc((void **)&dev_c, size * sizeof(int));
    if (status != cudaSuccess) goto Error;
    status = cudaMalloc((void **)&dev_a, size * sizeof(int));
    if (status != cudaSuccess) goto Error;
    status = cudaMalloc((void **)&dev_b, size * sizeof(int));
    if (status != cudaSuccess) goto Error;
    status = cudaMemcpy(dev_a, a, size * sizeof(int), cudaMemcpyHostToDevice);
    if (status != cudaSuccess) goto Error;
    status = cudaMemcpy(dev_b, b, size * sizeof(int), cudaMemcpyHostToDevice);
    if (status != cudaSuccess) goto Error;
    add<<<1, size>>>(dev_c, dev_a, dev_b);
    status = cudaGetLastError();
    if (status != cudaSuccess) {
        fprintf(stderr, "the launch failed: %s\n", cudaGetErrorString(status));
        goto Error;
    }
    status = cudaDeviceSynchronize();
    if (status != cudaSuccess) goto Error;
    status = cudaMemcpy(c, dev_c, size * sizeof(int), cudaMemcpyDeviceToHost);

Error:
    cudaFree(dev_c);
    cudaFree(dev_a);
    cudaFree(dev_b);
    return status;
}

int main()
{
    const int n = 5;
    const int a[n] = {1, 2, 3, 4, 5}, b[n] = {10, 20, 30, 40, 50};
    int c[n] = {0};
    if (add_with_device(c, a, b, n) != cudaSuccess) return 1;
    printf("{%d, %d, %d, %d, %d}\n", c[0], c[1], c[2], c[3], c[4]);
    return cudaDeviceReset() == cudaSuccess ? 0 : 1;
}
