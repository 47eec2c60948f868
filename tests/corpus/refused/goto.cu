// `goto`
// warpsmith: grid=1 block=32 arg x=int[32]
__global__ void f(int *x)
{
    if (x[threadIdx.x] > 0) goto end;
    x[threadIdx.x] = 1;
end:
    return;
}
