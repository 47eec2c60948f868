// Stream compaction with one atomic a warp: __activemask in a divergent branch, leader election by __ffs, broadcast by shuffle.

__device__ int atomicAggInc(int *ctr)
{
    unsigned int active = __activemask();
    int leader = __ffs(active) - 1;
    int lane = threadIdx.x & 31;
    int rank = __popc(active & ((1u << lane) - 1u));
    int base = 0;
    if (lane == leader) base = atomicAdd(ctr, __popc(active));
    base = __shfl_sync(active, base, leader);
    return base + rank;
}

// warpsmith: grid=2 block=64 arg dst=int[128] arg nres=int[1] arg src=int[128]=iota arg n=128
// warpsmith: grid=2 block=64 arg dst=int[101] arg nres=int[1] arg src=int[101]=iota arg n=101
__global__ void filter_k(int *dst, int *nres, const int *src, int n)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n) return;
    if ((src[i] & 5) == 1)
        dst[atomicAggInc(nres)] = src[i];
}
