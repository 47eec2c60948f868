// Defect: two warps come to one barrier with different counts
// expect: divergent-barrier line=9
// expect: status=1
// warpsmith: grid=1 block=128 arg y=int[128]=zeros
__global__ void counts(int *y)
{
    y[threadIdx.x] = 0;
    int n = threadIdx.x < 64 ? 128 : 96;
    asm volatile("bar.sync 2, %0;" :: "r"(n) : "memory");
    y[threadIdx.x] += 1;
}
