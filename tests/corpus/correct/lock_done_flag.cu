// Bucket locks taken by every thread with a done flag, safe when the lanes of one warp compete for the same lock.
#define BUCKETS 8

// warpsmith: grid=2 block=32 arg keys=int[64]=iota arg n=64 arg locks=int[8] arg counts=int[8] arg last=int[8]
// warpsmith: grid=1 block=48 arg keys=int[37]=iota arg n=37 arg locks=int[8] arg counts=int[8] arg last=int[8]
__global__ void fill_buckets(const int *keys, int n, int *locks, int *counts, int *last)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const int b = keys[i] % BUCKETS;
        bool done = false;
        while (!done) {
            if (atomicCAS(&locks[b], 0, 1) == 0) {
                __threadfence();
                counts[b] = counts[b] + 1;
                last[b] = last[b] < keys[i] ? keys[i] : last[b];
                __threadfence();
                atomicExch(&locks[b], 0);
                done = true;
            }
        }
    }
}
