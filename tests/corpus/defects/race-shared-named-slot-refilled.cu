// Defect: the warp that fills the slot does not wait for those that empty it
// expect: race-shared line=11 array=slot
// expect: status=1
// warpsmith: grid=1 block=64 arg x=int[128] arg y=int[128]=zeros
__global__ void refilled(const int *x, int *y)
{
    __shared__ int slot[32];
    int lane = threadIdx.x % 32;
    for (int i = 0; i < 4; i++) {
        if (threadIdx.x < 32) {
            slot[lane] = x[i * 32 + lane];
            asm volatile("bar.sync 1, 64;" ::: "memory");
        } else {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            y[i * 32 + lane] = slot[31 - lane];
        }
    }
}
