// Defect: only the first block comes to the barrier of the grid, which does not show while there is but one.
// expect: divergent-barrier line=13
// expect: status=1
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
namespace cg = cooperative_groups;

__global__ void shift(float *x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float next = i + 1 < n ? x[i + 1] : 0.0f;
    if (blockIdx.x == 0) cg::this_grid().sync();
    if (blockIdx.x == 0 && i < n) x[i] = next;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        printf("usage: %s n\n", argv[0]);
        return 1;
    }
    int n = atoi(argv[1]);
    float *x;
    cudaMalloc(&x, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    void *arguments[] = {&x, &n};
    cudaLaunchCooperativeKernel((void *)shift, (n + 255) / 256, 256, arguments, 0, 0);
    cudaDeviceSynchronize();
    cudaFree(x);
    return 0;
}
