// Exceptions
// warpsmith: grid=1 block=32 arg x=int[32]
__global__ void f(int *x)
{
    if (x[0] < 0) throw 1;
    x[threadIdx.x] = 1;
}
