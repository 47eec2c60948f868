// `barrier.sync` without `.aligned`: lanes of a warp come to a barrier from several places.
#include <assert.h>

// warpsmith: grid=2 block=64 arg out=int[128]=zeros
__global__ void lanes(int *out) {
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    if (threadIdx.x % 2) asm volatile("barrier.sync 1, 64;" ::: "memory");
    else asm volatile("barrier.cta.sync 1, 64;" ::: "memory");
    assert(s[63 - threadIdx.x] == 63 - threadIdx.x);
    asm volatile("barrier.sync 0;" ::: "memory");
    s[threadIdx.x] = 0;
    out[blockIdx.x * 64 + threadIdx.x] = threadIdx.x;
}

// Two of three warps meet while lanes of the third come one after the other, and leave.
// warpsmith: grid=1 block=96 arg out=int[96]=zeros
__global__ void some(int *out) {
    __shared__ int s[96];
    s[threadIdx.x] = threadIdx.x;
    if (threadIdx.x < 64) {
        asm volatile("barrier.sync 2, 64;" ::: "memory");
        out[threadIdx.x] = s[63 - threadIdx.x];
    } else if (threadIdx.x % 4 != 0) {
        asm volatile("barrier.sync 3, 32;" ::: "memory");
        out[threadIdx.x] = s[threadIdx.x ^ 3];
    } else {
        asm volatile("barrier.sync 3, 32;" ::: "memory");
        out[threadIdx.x] = s[threadIdx.x ^ 2];
    }
}
