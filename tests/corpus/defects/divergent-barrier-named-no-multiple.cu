// Defect: the count of a numbered barrier is no multiple of a warp's size
// expect: divergent-barrier line=7
// expect: status=1
// warpsmith: grid=1 block=64 arg y=int[64]=zeros
__global__ void part_of_a_warp(int *y)
{
    if (threadIdx.x < 32) asm volatile("bar.sync 3, 20;" ::: "memory");
    y[threadIdx.x] = 1;
}
