// Recursive functions with shared variables of their own
__device__ int down(int n)
{
    __shared__ int last;
    if (threadIdx.x == 0) last = n;
    return n == 0 ? last : down(n - 1);
}

// warpsmith: grid=1 block=32 arg x=int[32]
__global__ void k(int *x)
{
    x[threadIdx.x] = down(3);
}
