// Defect: the node's grid covers n elements and a block more, and the kernel has no guard.
// expect: out-of-bounds line=8 array=x
// expect: status=1
#include <cuda_runtime.h>

__global__ void fill(int *x)
{
    x[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

int main()
{
    const int n = 256;
    int *x;
    cudaMalloc(&x, n * sizeof(int));
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t node;
    cudaGraphCreate(&graph, 0);
    void *args[] = {&x};
    cudaKernelNodeParams params = {0};
    params.func = (void *)fill;
    params.gridDim = dim3(n / 64 + 1);
    params.blockDim = dim3(64);
    params.kernelParams = args;
    cudaGraphAddKernelNode(&node, graph, NULL, 0, &params);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, 0);
    cudaDeviceSynchronize();
    cudaFree(x);
    return 0;
}
