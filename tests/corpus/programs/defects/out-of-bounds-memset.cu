// expect: out-of-bounds line=14
// expect: status=1
// Defect: the fill counts bytes of the padded grid, the allocation elements of the vector
#include <cstdio>
__global__ void count(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&x[i % 8], 1);
}
int main()
{
    int n = 100, padded = 128, *x;
    cudaMalloc(&x, n * sizeof(int));
    cudaMemset(x, 0, padded * sizeof(int));
    cudaMemset(x, 0, n * sizeof(int));
    count<<<padded / 32, 32>>>(x, n);
    cudaDeviceSynchronize();
}
