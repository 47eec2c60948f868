// The sizes that are invented for the program's arguments make one block, which has nobody to race with; larger ones do not.
// expect: race-global line=13 array=total
// expect: status=1
#include <cstdio>
#include <cstdlib>
__global__ void sums(const int *x, int *total, int n)
{
    __shared__ int own;
    if (threadIdx.x == 0) own = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own, x[i]);
    __syncthreads();
    if (threadIdx.x == 0) *total += own;
}

int main(int argc, char **argv)
{
    if (argc != 3) return 1;
    const int n = atoi(argv[1]), repeats = atoi(argv[2]);
    int *x, *total, *h = (int *)malloc(n * sizeof(int));
    for (int i = 0; i < n; i++) h[i] = i % 7;
    cudaMalloc(&x, n * sizeof(int));
    cudaMalloc(&total, sizeof(int));
    cudaMemcpy(x, h, n * sizeof(int), cudaMemcpyHostToDevice);
    for (int k = 0; k < repeats; k++) {
        cudaMemset(total, 0, sizeof(int));
        sums<<<(n + 255) / 256, 256>>>(x, total, n);
    }
    int sum;
    cudaMemcpy(&sum, total, sizeof(int), cudaMemcpyDeviceToHost);
    printf("%d\n", sum);
    return 0;
}
