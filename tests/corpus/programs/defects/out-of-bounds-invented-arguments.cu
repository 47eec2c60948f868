// Whatever sizes are invented for the program's arguments, the last thread reads one element too many.
// expect: out-of-bounds line=8 array=x
// expect: status=1
#include <cstdlib>
#include <cstdio>
__global__ void differences(const float *x, float *y, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = x[i + 1] - x[i];
}
int main(int argc, char **argv)
{
    if (argc != 2) { printf("usage: %s n\n", argv[0]); return 1; }
    int n = atoi(argv[1]);
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    differences<<<2, 64>>>(x, y, n);
    printf("%d\n", (int)cudaDeviceSynchronize());
}
