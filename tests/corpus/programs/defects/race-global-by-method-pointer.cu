// Every thread stores what a chosen method gives: the index is that of the block, not of the thread.
// expect: race-global line=18 array=y
// expect: status=1
#include <cstdio>
#include <cuda_runtime.h>

struct Curve {
    float k;
    __device__ float line(float x) const { return k * x; }
    __device__ float square(float x) const { return k * x * x; }
};

using Shape = float (Curve::*)(float) const;

__global__ void sample(Curve curve, bool squared, const float *x, float *y, int n) {
    Shape shape = squared ? &Curve::square : &Curve::line;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[blockIdx.x] = (curve.*shape)(x[i]);
}

int main() {
    const int n = 100;
    float *x, *y;
    cudaMallocManaged(&x, n * sizeof(float));
    cudaMallocManaged(&y, n * sizeof(float));
    for (int i = 0; i < n; ++i) x[i] = i;
    sample<<<(n + 63) / 64, 64>>>(Curve{2.0f}, true, x, y, n);
    cudaDeviceSynchronize();
    printf("%f\n", y[0]);
    cudaFree(x);
    cudaFree(y);
}
