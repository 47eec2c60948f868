// Barriers of some warps: one that fills and one that empties, halves of a block that meet apart, numbers from variables.
#define ARRIVE(id, n) asm volatile("bar.arrive %0, %1;" :: "r"(id), "r"(n) : "memory")
#define SYNC(id, n) asm volatile("bar.sync %0, %1;" :: "r"(id), "r"(n) : "memory")
// warpsmith: grid=2 block=96 arg x=float[512] arg y=float[512]=zeros
__global__ void specialised(const float *x, float *y)
{
    __shared__ float tile[64];
    int t = threadIdx.x, warp = t / 32;
    if (warp == 2) {
        for (int i = 0; i < 4; i++) {
            if (i > 0) SYNC(2, 96);
            tile[t - 64] = x[blockIdx.x * 256 + i * 64 + t - 64];
            tile[t - 32] = x[blockIdx.x * 256 + i * 64 + t - 32];
            ARRIVE(1, 96);
        }
    } else {
        for (int i = 0; i < 4; i++) {
            SYNC(1, 96);
            y[blockIdx.x * 256 + i * 64 + t] = tile[63 - t];
            if (i < 3) ARRIVE(2, 96);
        }
    }
}
// warpsmith: grid=1 block=128 arg y=int[128]=zeros
__global__ void halves(int *y)
{
    __shared__ int s[128];
    int half = threadIdx.x / 64;
    s[threadIdx.x] = threadIdx.x;
    asm volatile("barrier.cta.sync.aligned %0, 64;" :: "r"(half + 1) : "memory");
    int other = s[threadIdx.x ^ 63];
    __assert(other == (int)(threadIdx.x ^ 63));
    asm volatile("barrier.sync %0;" :: "r"(5) : "memory");
    s[threadIdx.x] = other;
    asm volatile("bar.sync 0;");
    y[threadIdx.x] = s[127 - threadIdx.x];
    int odd;
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; bar.red.popc.u32 %0, 0, p; }" : "=r"(odd) : "r"(threadIdx.x & 1));
    __assert(odd == 64);
    int any;
    asm volatile("{ .reg .pred p, q; setp.gt.s32 p, %1, 126; bar.red.or.pred q, 4, p; selp.s32 %0, 1, 0, q; }"
                 : "=r"(any) : "r"(threadIdx.x));
    __assert(any == 1);
}
// warpsmith: grid=1 block=96 arg y=int[64]=zeros
__global__ void some_have_ended(int *y)
{
    __shared__ int s[64];
    if (threadIdx.x >= 64) return;
    s[threadIdx.x] = threadIdx.x;
    asm volatile("bar.sync 4;" ::: "memory");
    y[threadIdx.x] = s[63 - threadIdx.x];
}
