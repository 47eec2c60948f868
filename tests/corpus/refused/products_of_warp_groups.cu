// Matrix products of four warps together (PTX, wgmma)
// warpsmith: grid=1 block=128 arg x=float[128]
__global__ void f(float *x)
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    x[threadIdx.x] = 1;
}
