// Blocks of 1024 threads: with 1024 numbers, too, there is but one.
// expect: race-global line=10 array=bins
// expect: status=1
#include <cstdio>
#include <cstdlib>
__global__ void fill(const int *x, int *bins, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        bins[threadIdx.x] += x[i];
}

int main(int argc, char **argv)
{
    if (argc != 2) return 1;
    int n = atoi(argv[1]), *x, *bins;
    cudaMalloc(&x, n * sizeof(int));
    cudaMalloc(&bins, 1024 * sizeof(int));
    cudaMemset(x, 1, n * sizeof(int));
    cudaMemset(bins, 0, 1024 * sizeof(int));
    fill<<<(n + 1023) / 1024, 1024>>>(x, bins, n);
    int first;
    cudaMemcpy(&first, bins, sizeof(int), cudaMemcpyDeviceToHost);
    printf("%d\n", first);
    return 0;
}
