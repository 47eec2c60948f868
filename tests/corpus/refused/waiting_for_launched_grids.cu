// Kernels that wait for grids they launch
__global__ void child(int *x) { x[threadIdx.x] = 1; }
// warpsmith: grid=1 block=32 arg x=int[32]
__global__ void f(int *x)
{
    child<<<1, 32>>>(x);
    cudaDeviceSynchronize();
}
