// Variables of the device that the host reaches by their addresses, with the sizes they say.
#include <cstdio>
__device__ unsigned counts[64];
__device__ float weights[32];
__global__ void count(const int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&counts[x[i] & 63], 1u);
}
__global__ void weigh(float *out)
{
    out[threadIdx.x] = weights[threadIdx.x] * counts[threadIdx.x];
}
int main()
{
    const int n = 100;
    int h[n], *x;
    for (int i = 0; i < n; i++)
        h[i] = i * 7;
    cudaMalloc(&x, n * sizeof(int));
    cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
    void *cleared;
    size_t bytes;
    cudaGetSymbolAddress(&cleared, counts);
    cudaGetSymbolSize(&bytes, counts);
    cudaMemset(cleared, 0, bytes);
    count<<<2, 64>>>(x, n);
    float *filled, w[32], *out;
    for (int i = 0; i < 32; i++)
        w[i] = 0.5f * i;
    cudaGetSymbolAddress((void **)&filled, weights);
    cudaMemcpy(filled, w, sizeof w, cudaMemcpyHostToDevice);
    cudaMalloc(&out, sizeof w);
    weigh<<<1, 32>>>(out);
    cudaMemcpy(w, out, sizeof w, cudaMemcpyDeviceToHost);
    printf("%g\n", w[3]);
    return 0;
}
