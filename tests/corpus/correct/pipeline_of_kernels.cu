// Scan over several blocks as three kernels run in order on shared named buffers: ordering between blocks by kernel ends.
#include <cstdio>
#include <cuda_runtime.h>
#define CHUNK 64

// warpsmith: grid=4 block=64 arg data=int[230]=iota arg sums=int[4] arg n=230
__global__ void scan_chunks(int *data, int *sums, int n)
{
    __shared__ int s[2][CHUNK];
    const int t = threadIdx.x, i = blockIdx.x * CHUNK + t;
    int which = 0;
    s[0][t] = i < n ? data[i] : 0;
    for (int d = 1; d < CHUNK; d <<= 1) {
        __syncthreads();
        s[which ^ 1][t] = s[which][t] + (t >= d ? s[which][t - d] : 0);
        which ^= 1;
    }
    if (i < n) data[i] = s[which][t];
    if (t == CHUNK - 1) sums[blockIdx.x] = s[which][t];
}

// warpsmith: grid=1 block=1 arg sums=int[4] arg m=4
__global__ void scan_sums(int *sums, int m)
{
    int running = 0;
    for (int k = 0; k < m; ++k) {
        const int v = sums[k];
        sums[k] = running;
        running += v;
    }
}

// warpsmith: grid=4 block=64 arg data=int[230]=iota arg sums=int[4] arg n=230
__global__ void add_offsets(int *data, const int *sums, int n)
{
    const int i = blockIdx.x * CHUNK + threadIdx.x;
    if (i < n) data[i] += sums[blockIdx.x];
}

// warpsmith: run scan_chunks, scan_sums, add_offsets

int main()
{
    const int n = 230, blocks = (n + CHUNK - 1) / CHUNK;
    int *data, *sums;
    cudaMallocManaged(&data, n * sizeof(int));
    cudaMallocManaged(&sums, blocks * sizeof(int));
    for (int i = 0; i < n; ++i) data[i] = i;
    scan_chunks<<<blocks, CHUNK>>>(data, sums, n);
    scan_sums<<<1, 1>>>(sums, blocks);
    add_offsets<<<blocks, CHUNK>>>(data, sums, n);
    cudaDeviceSynchronize();
    for (int i = 0; i < n; ++i) {
        if (data[i] != i * (i + 1) / 2) {
            printf("wrong at %d\n", i);
            return 1;
        }
    }
    printf("ok\n");
}
