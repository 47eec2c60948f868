// Defect: the kernel is launched once more when the memory of the host is pinned no longer.
// expect: invalid-pointer line=23
// expect: status=1
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void squares(int n, int *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= x[i];
}

int main()
{
    const int n = 300;
    int *x = (int *)malloc(n * sizeof(int));
    for (int i = 0; i < n; i++) x[i] = i;
    cudaHostRegister(x, n * sizeof(int), cudaHostRegisterPortable | cudaHostRegisterMapped);
    squares<<<3, 128>>>(n, x);
    cudaDeviceSynchronize();
    cudaHostUnregister(x);
    x[0] = 7;
    squares<<<2, 256>>>(n, x);
    cudaDeviceSynchronize();
    free(x);
}
