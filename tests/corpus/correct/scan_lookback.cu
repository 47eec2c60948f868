// Single-pass scan with decoupled look-back: blocks wait for earlier tiles through volatile flags and __threadfence.
enum TileStatus : int { TILE_EMPTY = 0, TILE_AGGREGATE = 1, TILE_PREFIX = 2 };
#define BLOCK 64

// warpsmith: grid=4 block=64 arg n=256 arg in=int[256]=iota arg out=int[256] arg status=int[4] arg aggregate=int[4] arg inclusive=int[4] arg ticket=uint[1]
// warpsmith: grid=6 block=64 arg n=333 arg in=int[333]=iota arg out=int[333] arg status=int[6] arg aggregate=int[6] arg inclusive=int[6] arg ticket=uint[1]
__global__ void scan_lookback(const int *in, int *out, int n, volatile int *status, int *aggregate,
                              int *inclusive, unsigned int *ticket)
{
    __shared__ int s[BLOCK];
    __shared__ int tile_id, exclusive;
    const int tid = threadIdx.x;

    if (tid == 0) tile_id = atomicAdd(ticket, 1u);  // tiles in the order in which blocks start
    __syncthreads();
    const int tile = tile_id;
    const int i = tile * BLOCK + tid;

    s[tid] = i < n ? in[i] : 0;
    __syncthreads();
    for (int d = 1; d < BLOCK; d *= 2) {
        int left = 0;
        if (tid >= d) left = s[tid - d];
        __syncthreads();
        s[tid] += left;
        __syncthreads();
    }

    if (tid == BLOCK - 1) {
        const int total = s[tid];
        int sum = 0;
        if (tile > 0) {
            aggregate[tile] = total;
            __threadfence();
            status[tile] = TILE_AGGREGATE;

            for (int look = tile - 1;; --look) {
                int state;
                do {
                    state = status[look];
                } while (state == TILE_EMPTY);
                __threadfence();
                if (state == TILE_PREFIX) {
                    sum += inclusive[look];
                    break;
                }
                sum += aggregate[look];
            }
        }
        inclusive[tile] = sum + total;
        __threadfence();
        status[tile] = TILE_PREFIX;
        exclusive = sum;
    }
    __syncthreads();
    if (i < n) out[i] = s[tid] + exclusive;
}
