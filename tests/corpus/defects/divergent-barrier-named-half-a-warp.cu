// Defect: a numbered barrier stands in a branch that divides a warp
// expect: divergent-barrier line=8
// expect: status=1
// warpsmith: grid=1 block=64 arg y=int[64]=zeros
__global__ void divided(int *y)
{
    y[threadIdx.x] = 1;
    if (threadIdx.x < 48) asm volatile("bar.sync 1, 64;" ::: "memory");
    __syncthreads();
    y[threadIdx.x] += 1;
}
