// Defect: the host looks at memory that it has pinned without waiting for the kernel that writes it.
// expect: race-global line=24
// expect: status=1
#include <cstdio>
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
    cudaHostRegister(x, n * sizeof(int), cudaHostRegisterMapped);
    int *mapped;
    cudaHostGetDevicePointer((void **)&mapped, x, 0);
    squares<<<3, 128>>>(n, mapped);
    int sum = 0;
    for (int i = 0; i < n; i++) sum += x[i];
    printf("%d\n", sum);
    cudaDeviceSynchronize();
    cudaHostUnregister(x);
    free(x);
}
