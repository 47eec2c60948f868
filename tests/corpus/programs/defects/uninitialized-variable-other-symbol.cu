// Both copies go to the same constant.
// expect: uninitialized-variable line=10 array=offset
// expect: status=1
#include <stdio.h>
__constant__ float slope;
__constant__ float offset;
__global__ void line(float *y)
{
    int i = threadIdx.x;
    y[i] = slope * i + offset;
}
int main()
{
    float s = 2.0f, o = 1.0f, *y;
    cudaMemcpyToSymbol(slope, &s, sizeof(float));
    cudaMemcpyToSymbol(slope, &o, sizeof(float));
    cudaMalloc(&y, 64 * sizeof(float));
    line<<<1, 64>>>(y);
    return 0;
}
