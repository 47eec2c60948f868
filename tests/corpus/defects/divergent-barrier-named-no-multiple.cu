// Defect: the count of a numbered barrier is no multiple of a warp's size
// expect: divergent-barrier line=8
// expect: status=1
// warpsmith: grid=1 block=64 arg y=int[64]=zeros
__global__ void part_of_a_warp(int *y)
{
    int n = blockDim.x / 3;
    if (threadIdx.x < 32) asm volatile("bar.sync 3, %0;" :: "r"(n) : "memory");
    y[threadIdx.x] = 1;
}
