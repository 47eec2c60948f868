// expect: out-of-bounds line=10 array=x
// expect: status=1
// Defect: the function that the table holds for odd threads reads one element too far
#include <cstdio>
typedef float (*Stencil)(const float *, int, int);
__device__ float left(const float *x, int i, int n) { return i > 0 ? x[i - 1] : 0.0f; }
__device__ float right(const float *x, int i, int n)
{
    float own = x[i];
    return own + x[i + 1];
}
__device__ Stencil stencils[2] = {left, right};
__global__ void apply(const float *x, float *y, int n)
{
    int i = threadIdx.x;
    if (i < n) y[i] = stencils[i & 1](x, i, n);
}
int main()
{
    float *x, *y;
    cudaMalloc(&x, 64 * sizeof(float));
    cudaMalloc(&y, 64 * sizeof(float));
    cudaMemset(x, 0, 64 * sizeof(float));
    apply<<<1, 64>>>(x, y, 64);
    cudaDeviceSynchronize();
}
