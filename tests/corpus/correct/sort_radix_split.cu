// Radix sort of a block by stable one-bit splits built from ballot and popc: two barriers a bit, scattered shared stores.
#define THREADS 96
#define NWARPS (THREADS / 32)

// warpsmith: grid=2 block=96 arg keys=uint[192]=random arg bits=8
__global__ void radix_split(unsigned int *keys, int bits)
{
    __shared__ unsigned int sorted[THREADS];
    __shared__ int zeros[NWARPS];
    const int t = threadIdx.x, lane = t & 31, warp = t >> 5;
    const unsigned int lanes_below = (1u << lane) - 1u;
    unsigned int *mine = keys + blockIdx.x * THREADS;
    unsigned int key = mine[t];

    for (int bit = 0; bit < bits; bit++) {
        const bool is_one = (key >> bit) & 1u;
        const unsigned int zero_mask = __ballot_sync(0xffffffffu, !is_one);
        if (lane == 0) zeros[warp] = __popc(zero_mask);
        __syncthreads();

        int before = 0, total = 0;
        for (int w = 0; w < NWARPS; w++) {
            if (w < warp) before += zeros[w];
            total += zeros[w];
        }
        before += __popc(zero_mask & lanes_below);
        const int slot = is_one ? total + (t - before) : before;
        sorted[slot] = key;
        __syncthreads();
        key = sorted[t];
    }
    mine[t] = key;
}
