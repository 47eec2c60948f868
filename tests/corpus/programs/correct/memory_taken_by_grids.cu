// Kernels take memory by `cudaMalloc`, hand it to grids that they launch, and free it; extents of grids are quotients of floats.
// nvcc: -rdc=true
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>

struct Line {
    float *points;
    int count;
};

__global__ void fill(int line, Line *lines)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < lines[line].count) lines[line].points[i] = i / (float)lines[line].count;
}

__global__ void subdivide(Line *lines, int n)
{
    int line = blockIdx.x * blockDim.x + threadIdx.x;
    if (line >= n) return;
    lines[line].count = 20 + 5 * line;
    cudaError_t status = cudaMalloc((void **)&lines[line].points, lines[line].count * sizeof(float));
    if (status != cudaSuccess) return;
    fill<<<ceilf(lines[line].count / 32.0f), 32>>>(line, lines);
}

__global__ void release(Line *lines, int n)
{
    int line = blockIdx.x * blockDim.x + threadIdx.x;
    if (line < n) cudaFree(lines[line].points);
}

int main()
{
    const int n = 20;
    Line *lines;
    cudaFree(0);
    cudaMalloc(&lines, n * sizeof(Line));
    subdivide<<<ceil(n / 16.0), 16>>>(lines, n);
    release<<<ceil(n / 16.0), 16>>>(lines, n);
    cudaFree(lines);
    return 0;
}
