// Block scan from warp scans by __shfl_up_sync: lane predicates, a shared array of warp totals, three phases.
constexpr int kWarp = 32;
constexpr unsigned kAll = 0xFFFFFFFFu;

__device__ __forceinline__ int inclusive_warp_scan(int v, int lane)
{
#pragma unroll
    for (int d = 1; d < kWarp; d <<= 1) {
        const int left = __shfl_up_sync(kAll, v, d);
        if (lane >= d) v += left;
    }
    return v;
}

// warpsmith: grid=1 block=128 arg n=128 arg in=int[128]=iota arg out=int[128] arg block_sums=int[1]
// warpsmith: grid=3 block=96 arg n=250 arg in=int[250]=iota arg out=int[250] arg block_sums=int[3]
__global__ void block_scan(const int *in, int *out, int *block_sums, int n)
{
    __shared__ int warp_sums[kWarp];
    const int lane = threadIdx.x & (kWarp - 1), warp = threadIdx.x / kWarp;
    const int warps = blockDim.x / kWarp;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    int v = inclusive_warp_scan(i < n ? in[i] : 0, lane);
    if (lane == kWarp - 1) warp_sums[warp] = v;
    __syncthreads();

    if (warp == 0) {
        int s = lane < warps ? warp_sums[lane] : 0;
        s = inclusive_warp_scan(s, lane);
        warp_sums[lane] = s;
    }
    __syncthreads();

    if (warp > 0) v += warp_sums[warp - 1];
    if (i < n) out[i] = v;
    if (threadIdx.x == blockDim.x - 1) block_sums[blockIdx.x] = v;
}
