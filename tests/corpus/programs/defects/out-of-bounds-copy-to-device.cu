// expect: out-of-bounds line=16
// expect: status=1
// Defect: the copy brings twice the bytes that the allocation has
#include <cstdio>
__global__ void twice(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2.0f;
}
int main()
{
    const int n = 64;
    float host[2 * n], *x;
    for (int i = 0; i < 2 * n; i++) host[i] = i;
    cudaMalloc(&x, n * sizeof(float));
    cudaMemcpy(x, host, 2 * n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(x, 0, n * sizeof(float));
    twice<<<1, 64>>>(x, n);
    cudaDeviceSynchronize();
}
