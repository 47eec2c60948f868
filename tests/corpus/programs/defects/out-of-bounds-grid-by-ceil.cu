// The grid is rounded up by `ceil`, and the kernel has no guard.
// expect: out-of-bounds line=8 array=x
// expect: status=1
#include <cmath>

__global__ void twice(float *x)
{
    x[blockIdx.x * blockDim.x + threadIdx.x] = 2.0f;
}

int main()
{
    const int n = 1000;
    float *x;
    cudaMalloc(&x, n * sizeof(float));
    twice<<<ceil(n / 256.0), 256>>>(x);
    cudaFree(x);
    return 0;
}
