// A lambda that an algorithm calls reads the neighbour behind the last element.
// expect: out-of-bounds line=11 array=x
// expect: status=1
#include <cstdio>
#include <thrust/device_vector.h>
#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>
__global__ void differences(const float *x, float *y, int n)
{
    auto f = [=](auto i) {
        y[i] = x[i + 1] - x[i];
    };
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) f(i);
}
int main()
{
    const int n = 50;
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    differences<<<2, 32>>>(x, y, n);
    printf("%d\n", (int)cudaDeviceSynchronize());
}
