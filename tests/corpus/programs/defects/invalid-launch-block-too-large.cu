// A square block of 64 by 64 threads.
// expect: invalid-launch line=15
// expect: status=1
__global__ void fill(int *a, int w)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    a[y * w + x] = x;
}
int main()
{
    const int w = 128;
    int *a;
    cudaMalloc(&a, w * w * sizeof(int));
    dim3 block(64, 64), grid(w / block.x, w / block.y);
    fill<<<grid, block>>>(a, w);
    return cudaDeviceSynchronize();
}
