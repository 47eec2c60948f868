// Defect: the configuration starts more threads than there are elements, and the kernel has no guard.
// expect: out-of-bounds line=7 array=to
// expect: status=1
__global__ void fill(int *to, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = value;
}
int main()
{
    int *to;
    cudaMalloc(&to, 1000 * sizeof(int));
    cudaLaunchConfig_t config = {0};
    config.gridDim = dim3(8, 1, 1);
    config.blockDim = dim3(128, 1, 1);
    cudaLaunchKernelEx(&config, fill, to, 3);
    cudaDeviceSynchronize();
    cudaFree(to);
    return 0;
}
