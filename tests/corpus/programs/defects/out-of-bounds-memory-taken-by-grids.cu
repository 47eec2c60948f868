// A kernel takes as many bytes as it needs elements, and a grid that it launches stores past them.
// nvcc: -rdc=true
// expect: out-of-bounds line=14
// expect: status=1
#include <cuda_runtime.h>

struct Line {
    float *points;
    int count;
};

__global__ void fill(int line, Line *lines)
{
    if (threadIdx.x < lines[line].count) lines[line].points[threadIdx.x] = 1.0f;
}

__global__ void subdivide(Line *lines)
{
    int line = threadIdx.x;
    lines[line].count = 20 + line;
    cudaMalloc((void **)&lines[line].points, lines[line].count);
    fill<<<1, 32>>>(line, lines);
}

int main()
{
    Line *lines;
    cudaMalloc(&lines, 4 * sizeof(Line));
    subdivide<<<1, 4>>>(lines);
    cudaDeviceSynchronize();
    return 0;
}
