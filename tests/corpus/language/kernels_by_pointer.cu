// Kernels that are launched through pointers and tables, and from their arguments' addresses.
#include <cstdio>
typedef void (*Kernel)(int *, int);
__global__ void fill(int *x, int n)
{
    if (threadIdx.x < n) x[threadIdx.x] = 1;
}
__global__ void count(int *x, int n)
{
    if (threadIdx.x < n) x[threadIdx.x] += 1;
}
template <int STEP> __global__ void raise(int *x, int n)
{
    if (threadIdx.x < n) x[threadIdx.x] += STEP;
}

void launch(void (*kernel)(int *, int), int *x, int n) { kernel<<<1, 32>>>(x, n); }

int main()
{
    int *x, n = 20, h[20];
    cudaMalloc(&x, n * sizeof(int));
    Kernel kernels[] = {fill, count, raise<5>};
    const char *names[] = {"fill", "count", "raise"};
    for (int i = 0; i < 3; i++) {
        kernels[i]<<<1, 32>>>(x, n);
        printf("%s\n", names[i]);
    }
    launch(&count, x, n);
    cudaMemcpy(h, x, sizeof(h), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        if (h[i] != 8) kernels[0]<<<1, 2048>>>(x, n);
    cudaFree(x);
}
