// In-kernel assert and printf with several conversions: host-like library calls with no effect on memory.
#include <assert.h>
#include <stdio.h>

// warpsmith: grid=1 block=32 arg x=int[32]=iota arg y=int[32] arg n=32
// warpsmith: grid=2 block=16 arg x=int[27]=iota arg y=int[27] arg n=27
// warpsmith: grid=1 block=1024 arg x=int[5]=iota arg y=int[5] arg n=5
__global__ void checked_copy(const int *x, int *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(blockDim.x <= 1024);
    if (i < n) {
        assert(x[i] == i);
        y[i] = x[i] * 2;
        if (i % 16 == 0) printf("block %d thread %2d: %d %u %5.2f %s %c\n", blockIdx.x, threadIdx.x, y[i], i, x[i] / 4.0, "ok", 'a' + i % 26);
    }
}

int main()
{
    int *x, *y;
    cudaMallocManaged(&x, 32 * sizeof(int));
    cudaMallocManaged(&y, 32 * sizeof(int));
    for (int i = 0; i < 32; i++) x[i] = i;
    checked_copy<<<1, 32>>>(x, y, 32);
    return cudaDeviceSynchronize();
}
