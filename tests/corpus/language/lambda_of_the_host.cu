// A kernel template that the host gives a lambda, which names the instance by its launch.
#include <cstdio>
template <typename F> __global__ void for_each(int n, F f)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) f(i);
}
int main()
{
    const int n = 100;
    float *x;
    cudaMallocManaged(&x, n * sizeof(float));
    for (int i = 0; i < n; i++) x[i] = i;
    float a = 2.0f;
    for_each<<<(n + 31) / 32, 32>>>(n, [=] __device__(int i) { x[i] = a * x[i] + 1.0f; });
    for_each<<<(n + 31) / 32, 32>>>(n, [=] __device__(int i) { if (i % 2) x[i] = 0.0f; });
    cudaDeviceSynchronize();
    printf("%f\n", x[99]);
    cudaFree(x);
}
