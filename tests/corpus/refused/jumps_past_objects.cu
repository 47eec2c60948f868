// `goto` past objects with a destructor, in kernels
struct Guard {
    int *count;
    __device__ ~Guard() { atomicSub(count, 1); }
};
// warpsmith: grid=1 block=32 arg x=int[32]
__global__ void f(int *x)
{
    Guard guard = {x};
    if (threadIdx.x > 3) goto end;
    atomicAdd(x + 1, 1);
end:;
}
