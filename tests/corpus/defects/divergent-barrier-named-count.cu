// Defect: the numbered barrier counts 96 threads, and only two warps come to it
// expect: divergent-barrier line=10
// expect: status=1
// warpsmith: grid=1 block=96 arg y=int[64]=zeros
__global__ void one_warp_short(int *y)
{
    __shared__ int s[64];
    if (threadIdx.x < 64) {
        s[threadIdx.x] = threadIdx.x;
        asm volatile("bar.sync 1, 96;" ::: "memory");
        y[threadIdx.x] = s[63 - threadIdx.x];
    }
}
