// Defect: the same launch in two streams; what comes of the second is known, since the squares of zeros are zeros.
// expect: race-global line=22
// expect: status=1
#include <cuda_runtime.h>

__global__ void square(int n, float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= x[i];
}

int main()
{
    float *x;
    cudaStream_t a, b;
    cudaStreamCreate(&a);
    cudaStreamCreate(&b);
    cudaMalloc(&x, 400);
    cudaMemset(x, 0, 400);
    cudaDeviceSynchronize();
    square<<<4, 32, 0, a>>>(100, x);
    square<<<4, 32, 0, b>>>(100, x);
    cudaDeviceSynchronize();
    cudaFree(x);
}
