// Sums, scans, sorts and copies of blocks and warps by CUB.
#include <assert.h>
#include <cub/cub.cuh>
struct Greater {
    __device__ float operator()(float a, float b) const { return a > b ? a : b; }
};

template <int THREADS> __device__ int together(int value)
{
    typedef cub::BlockReduce<int, THREADS> Reduce;
    __shared__ typename Reduce::TempStorage storage;
    return Reduce(storage).Sum(value);
}

// warpsmith: grid=2 block=64 arg x=int[512]=iota arg y=int[512] arg sums=int[2]
__global__ void reduced_and_scanned(const int *x, int *y, int *sums)
{
    using Load = cub::BlockLoad<int, 64, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using Store = cub::BlockStore<int, 64, 4, cub::BLOCK_STORE_WARP_TRANSPOSE>;
    using Scan = cub::BlockScan<int, 64>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Store::TempStorage store;
        typename Scan::TempStorage scan;
    } storage;
    int items[4], all;
    Load(storage.load).Load(x + blockIdx.x * 256, items);
    __syncthreads();
    const int first = items[0];
    Scan(storage.scan).ExclusiveSum(items, items, all);
    __syncthreads();
    Store(storage.store).Store(y + blockIdx.x * 256, items);
    const int sum = together<64>(first);
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = all;
        assert(sum == 64 * 256 * (int)blockIdx.x + 4 * 2016);
    }
    assert(items[1] == items[0] + first);
}

// warpsmith: grid=1 block=64 arg x=float[64]=iota arg y=float[64]
__global__ void of_warps(const float *x, float *y)
{
    using Reduce = cub::WarpReduce<float>;
    using Scan = cub::WarpScan<float>;
    __shared__ typename Reduce::TempStorage reduce[2];
    __shared__ typename Scan::TempStorage scan[2];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const float most = Reduce(reduce[warp]).Reduce(x[threadIdx.x], Greater());
    float sum;
    Scan(scan[warp]).InclusiveSum(1.0f, sum);
    if (lane == 0) assert(most == 32 * warp + 31);
    y[threadIdx.x] = sum;
    assert(sum == lane + 1);
}

// warpsmith: grid=1 block=32 arg keys=int[64] arg sorted=int[64]
__global__ void sorted_keys(const int *keys, int *sorted)
{
    using Sort = cub::BlockRadixSort<int, 32, 2, int>;
    __shared__ typename Sort::TempStorage storage;
    int own[2] = {keys[2 * threadIdx.x], keys[2 * threadIdx.x + 1]}, from[2] = {2 * (int)threadIdx.x, 2 * (int)threadIdx.x + 1};
    Sort(storage).Sort(own, from);
    sorted[2 * threadIdx.x] = own[0];
    sorted[2 * threadIdx.x + 1] = own[1];
    assert(own[0] <= own[1] && keys[from[0]] == own[0]);
    __syncthreads();
    if (threadIdx.x > 0) assert(sorted[2 * threadIdx.x - 1] <= own[0]);
}
