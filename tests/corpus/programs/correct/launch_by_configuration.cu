// A launch whose shape stands in a structure, with attributes that are hints.
#include <cstdio>
__global__ void fill(int *to, int n, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = value + i;
}
int main()
{
    const int n = 1000;
    int *to;
    cudaMalloc(&to, n * sizeof(int));
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaLaunchConfig_t config = {0};
    config.gridDim = (n + 127) / 128;
    config.blockDim = 128;
    config.dynamicSmemBytes = 0;
    config.stream = stream;
    cudaLaunchAttribute attribute[1];
    attribute[0].id = cudaLaunchAttributeCooperative;
    attribute[0].val.cooperative = 1;
    config.attrs = attribute;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, fill, to, n, 5);
    cudaStreamSynchronize(stream);
    cudaFree(to);
    return 0;
}
