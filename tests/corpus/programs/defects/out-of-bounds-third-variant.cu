// Three variants of a sum, chosen by a number among the arguments: the one that reads two elements a thread reads one too many.
// expect: out-of-bounds line=25 array=d_in
// expect: status=1
#include <cstdio>
#include <cstdlib>
__global__ void one_each(const int *in, unsigned long long *sum, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(sum, (unsigned long long)in[i]);
}
__global__ void by_warp(const int *in, unsigned long long *sum, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = i < n ? in[i] : 0;
    for (int step = 16; step > 0; step /= 2) v += __shfl_down_sync(0xffffffff, v, step);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, (unsigned long long)v);
}
__global__ void two_each(const int *in, unsigned long long *sum, int n)
{
    __shared__ int total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    int own = 0;
    if (i < n) own = in[i];
    if (i < n) own += in[i + 2];
    atomicAdd(&total, own);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(sum, (unsigned long long)total);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: %s <variant> <numbers> <repeat>\n", argv[0]);
        return 1;
    }
    const int variant = atoi(argv[1]), n = atoi(argv[2]), repeat = atoi(argv[3]);
    int *in = (int *)malloc(n * sizeof(int)), *d_in;
    for (int i = 0; i < n; i++) in[i] = i % 9;
    unsigned long long sum, *d_sum;
    cudaMalloc(&d_in, n * sizeof(int));
    cudaMalloc(&d_sum, sizeof sum);
    cudaMemcpy(d_in, in, n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(d_sum, 0, sizeof sum);
    const int block = 64, grid = (n + block - 1) / block;
    for (int k = 0; k < repeat; k++) {
        switch (variant) {
        case 1: by_warp<<<grid, block>>>(d_in, d_sum, n); break;
        case 2: two_each<<<(grid + 1) / 2, block>>>(d_in, d_sum, n); break;
        default: one_each<<<grid, block>>>(d_in, d_sum, n);
        }
    }
    cudaMemcpy(&sum, d_sum, sizeof sum, cudaMemcpyDeviceToHost);
    printf("%llu\n", sum / repeat);
    cudaFree(d_in);
    cudaFree(d_sum);
    free(in);
    return 0;
}
