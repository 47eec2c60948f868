// A pointer to a device function is read from a variable of the device and given to a kernel.
#include <cstdio>
typedef int (*Function)(int);
__device__ int square(int a) { return a * a; }
__device__ int negate(int a) { return -a; }
__device__ Function square_pointer = square;
__device__ Function negate_pointer = negate;

__global__ void apply(Function f, const int *in, int *out)
{
    out[threadIdx.x] = f(in[threadIdx.x]);
}

int main()
{
    int in[32], out[32], *x, *y;
    for (int i = 0; i < 32; i++) in[i] = i;
    cudaMalloc(&x, sizeof(in));
    cudaMalloc(&y, sizeof(out));
    cudaMemcpy(x, in, sizeof(in), cudaMemcpyHostToDevice);
    Function f;
    cudaMemcpyFromSymbol(&f, square_pointer, sizeof(Function));
    apply<<<1, 32>>>(f, x, y);
    cudaMemcpyFromSymbol(&f, negate_pointer, sizeof(Function));
    apply<<<1, 32>>>(f, y, x);
    cudaMemcpy(out, x, sizeof(out), cudaMemcpyDeviceToHost);
    if (out[5] != -25) apply<<<1, 2048>>>(f, x, y);
}
