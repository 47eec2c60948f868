// Lambdas of the host as arguments of kernels, captured by value, through a function that launches.
#include <cstdio>
template <class F> __global__ void for_each(int n, F f)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) f(i);
}
template <class F> void parallel_for(int n, F f) { for_each<<<(n + 63) / 64, 64>>>(n, f); }

int main()
{
    int n = 100;
    float a = 2.0f, *x;
    cudaMallocManaged(&x, n * sizeof(float));
    for (int i = 0; i < n; i++) x[i] = i;
    parallel_for(n, [=] __device__(int i) { x[i] *= a; });
    auto more = [=] __host__ __device__(int i) { x[i] += 1; };
    for_each<<<2, 64>>>(n, more);
    cudaDeviceSynchronize();
    if (x[3] != 7.0f) for_each<<<2, 4096>>>(n, more);
    cudaFree(x);
}
