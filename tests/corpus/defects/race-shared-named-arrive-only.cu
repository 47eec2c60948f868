// Defect: the warps that read arrive at the barrier in the place of waiting at it
// expect: race-shared line=8 array=s
// expect: status=1
// warpsmith: grid=1 block=64 arg x=int[32] arg y=int[32]=zeros
__global__ void not_waiting(const int *x, int *y)
{
    __shared__ int s[32];
    if (threadIdx.x < 32) s[threadIdx.x] = x[threadIdx.x];
    asm volatile("bar.arrive 1, 64;" ::: "memory");
    if (threadIdx.x >= 32) y[threadIdx.x - 32] = s[63 - threadIdx.x];
}
