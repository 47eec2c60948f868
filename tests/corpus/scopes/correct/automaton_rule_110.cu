// Rule 110 on a line of cells: two rows in turn; a block goes on when its neighbours have made the step before.
#define B 32
// warpsmith: grid=3 block=32 arg cells=uchar[192]=random(5) arg made=int[3]=zeros arg steps=3
__global__ void rule110(unsigned char *cells, int *made, int steps)
{
    int n = gridDim.x * B, i = blockIdx.x * B + threadIdx.x;
    for (int step = 0; step < steps; step++) {
        const unsigned char *from = cells + (step & 1) * n;
        unsigned char *to = cells + (~step & 1) * n;
        int left = blockIdx.x == 0 ? 0 : blockIdx.x - 1, right = blockIdx.x + 1 == gridDim.x ? blockIdx.x : blockIdx.x + 1;
        while (atomicAdd(&made[left], 0) < step || atomicAdd(&made[right], 0) < step) {}
        __threadfence();
        int l = i > 0 ? from[i - 1] & 1 : 0, c = from[i] & 1, r = i + 1 < n ? from[i + 1] & 1 : 0;
        to[i] = 110 >> (4 * l + 2 * c + r) & 1;
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) atomicAdd(&made[blockIdx.x], 1);
    }
}
