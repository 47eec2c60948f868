// Recursion
__device__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
// warpsmith: grid=1 block=32 arg x=int[32]
__global__ void f(int *x) { x[threadIdx.x] = fib(threadIdx.x); }
