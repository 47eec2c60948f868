// Defect: braces make a list of one element, whose value is n, where n elements were meant.
// expect: out-of-bounds line=12
// expect: status=1

#include <cuda_runtime.h>
#include <vector>

// The array has one element.
__global__ void clear(float *x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = 0.0f;
}

int main()
{
    const int n = 100;
    std::vector<int> elements{n};
    float *x;
    cudaMalloc(&x, elements.size() * sizeof(float));
    clear<<<1, 128>>>(x, n);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
