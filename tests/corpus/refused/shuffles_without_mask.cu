// Shuffles and votes without a mask, which CUDA 9 removed
// warpsmith: grid=1 block=32 arg x=int[32]
__global__ void f(int *x) { x[threadIdx.x] = __shfl_down(x[threadIdx.x], 1); }
