// Defect: halves of the block meet apart, and one reads what the other writes
// expect: race-shared line=9 array=s
// expect: status=1
// warpsmith: grid=1 block=128 arg y=int[128]=zeros
__global__ void apart(int *y)
{
    __shared__ int s[128];
    int half = threadIdx.x / 64;
    s[threadIdx.x] = threadIdx.x;
    asm volatile("bar.sync %0, 64;" :: "r"(half + 1) : "memory");
    y[threadIdx.x] = s[127 - threadIdx.x];
}
