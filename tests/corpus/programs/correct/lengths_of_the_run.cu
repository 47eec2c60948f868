// Arrays of the host whose length is known when the program runs.
#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstdlib>
__global__ void toeplitz(const float *c, float *m, int n)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && j < n) m[i * n + j] = c[n - 1 - i + j];
}
__global__ void expect(const float *m, int n) { assert(m[threadIdx.x * n + threadIdx.x] == 10.0f); }
static void coefficients(float *to, int size)
{
    float half[size];
    for (int i = 0; i < size; i++) half[i] = 10 * exp(-0.001f * i);
    for (int i = 0; i < size; i++) to[size - 1 + i] = to[size - 1 - i] = half[i];
}
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 20;
    float c[2 * n - 1];
    coefficients(c, n);
    float *d_c, *d_m;
    cudaMalloc(&d_c, sizeof(c));
    cudaMalloc(&d_m, n * n * sizeof *d_m);
    cudaMemcpy(d_c, c, sizeof(c), cudaMemcpyHostToDevice);
    toeplitz<<<dim3((n + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(d_c, d_m, n);
    if (c[0] == c[2 * n - 2]) expect<<<1, n>>>(d_m, n);
    printf("%d\n", (int)cudaDeviceSynchronize());
}
