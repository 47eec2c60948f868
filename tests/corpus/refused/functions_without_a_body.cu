// Functions without a body in the file
__device__ int elsewhere(int);
// warpsmith: grid=1 block=32 arg x=int[32]
__global__ void f(int *x) { x[threadIdx.x] = elsewhere(1); }
