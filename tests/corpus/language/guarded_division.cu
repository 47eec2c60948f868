// A division and a shift that do not change in the loop around a condition that keeps threads from them.
#include <cassert>
// warpsmith: grid=2 block=32 arg n=64 arg parts=0 arg bits=40 arg y=float[64]
// warpsmith: grid=2 block=32 arg n=64 arg parts=4 arg bits=3 arg y=float[64]
__global__ void guarded(int n, int parts, int bits, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int by = parts;
    float sum = 0.0f;
    for (int round = 0; round < 3; ++round) {
        if (by != 0) sum += n / by + n % by;
        if (bits < 32) sum += 1 << bits;
    }
    assert(sum == (parts ? 48.0f : 0.0f) + (bits < 32 ? 24.0f : 0.0f));
    y[i] = sum;
}
