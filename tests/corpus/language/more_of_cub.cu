// More of CUB: sorts of some bits and by a comparison, exchanges, neighbours, histograms, prefixes, segments, direct loads.
#include <cub/cub.cuh>
#include <cuda/std/functional>
struct Less { template <typename T> __device__ bool operator()(const T &a, const T &b) const { return a < b; } };
struct Running {
    int sum;
    __device__ Running(int first) : sum(first) {}
    __device__ int operator()(int all) { int before = sum; sum += all; return before; }
};
// warpsmith: grid=2 block=64 arg x=int[512] arg y=int[512]=zeros
__global__ void sorted(const int *x, int *y)
{
    using Load = cub::BlockLoad<int, 64, 4, cub::BLOCK_LOAD_TRANSPOSE>;
    using Radix = cub::BlockRadixSort<int, 64, 4>;
    using Merge = cub::BlockMergeSort<int, 64, 4>;
    __shared__ union { typename Load::TempStorage load; typename Radix::TempStorage radix; typename Merge::TempStorage merge; } s;
    int keys[4];
    Load(s.load).Load(x + blockIdx.x * 256, keys);
    __syncthreads();
    Radix(s.radix).Sort(keys);
    cub::StoreDirectBlocked(threadIdx.x, y + blockIdx.x * 256, keys);
    __syncthreads();
    int first = y[blockIdx.x * 256 + threadIdx.x * 4], before = threadIdx.x ? y[blockIdx.x * 256 + threadIdx.x * 4 - 1] : first;
    __assert(before <= first && keys[0] <= keys[1] && keys[1] <= keys[2] && keys[2] <= keys[3]);
    for (int i = 0; i < 4; i++) keys[i] = (threadIdx.x * 4 + i) * 37 % 256;
    Radix(s.radix).Sort(keys, 4, 8);
    __assert(keys[0] / 16 == threadIdx.x / 4);
    __syncthreads();
    Merge(s.merge).Sort(keys, Less());
    for (int i = 0; i < 4; i++) __assert(keys[i] == threadIdx.x * 4 + i);
}
// warpsmith: grid=1 block=64 arg x=int[256] arg y=int[256]=zeros
__global__ void arranged(const int *x, int *y)
{
    using Exchange = cub::BlockExchange<int, 64, 4>;
    using Heads = cub::BlockDiscontinuity<int, 64>;
    using Left = cub::BlockAdjacentDifference<int, 64>;
    __shared__ union { typename Exchange::TempStorage exchange; typename Heads::TempStorage heads; typename Left::TempStorage left; } s;
    int v[4], f[4], d[4];
    cub::LoadDirectBlocked(threadIdx.x, x, v);
    Exchange(s.exchange).BlockedToStriped(v);
    for (int i = 0; i < 4; i++) __assert(v[i] == x[i * 64 + threadIdx.x]);
    cub::StoreDirectStriped<64>(threadIdx.x, y, v);
    __syncthreads();
    for (int i = 0; i < 4; i++) v[i] = (threadIdx.x * 4 + i) / 3;
    Heads(s.heads).FlagHeads(f, v, cuda::std::not_equal_to<>{});
    for (int i = 0; i < 4; i++) __assert(f[i] == ((threadIdx.x * 4 + i) % 3 == 0));
    __syncthreads();
    Left(s.left).SubtractLeft(v, d, cuda::std::minus<>{});
    for (int i = 0; i < 4; i++) __assert(d[i] == (threadIdx.x * 4 + i > 0 && (threadIdx.x * 4 + i) % 3 == 0));
}
// warpsmith: grid=1 block=64 arg x=uchar[256]=random arg n=100
__global__ void counted(const unsigned char *x, int n)
{
    using Scan = cub::BlockScan<int, 64>;
    using Histogram = cub::BlockHistogram<unsigned char, 64, 4, 256>;
    __shared__ typename Scan::TempStorage scan;
    __shared__ typename Histogram::TempStorage histogram;
    __shared__ unsigned bins[256];
    Running running(10);
    for (int base = 0; base < n; base += 64) {
        int sum;
        Scan(scan).ExclusiveSum(1, sum, running);
        __assert(sum == 10 + base + threadIdx.x);
        __syncthreads();
    }
    int two[2] = {1, 1};
    Running again(3);
    Scan(scan).ExclusiveSum(two, two, again);
    __assert(two[0] == 3 + 2 * threadIdx.x && two[1] == 4 + 2 * threadIdx.x);
    __syncthreads();
    unsigned char items[4];
    cub::LoadDirectStriped<64>(threadIdx.x, x, items);
    Histogram(histogram).Histogram(items, bins);
    __syncthreads();
    int all = 0;
    for (int i = 0; i < 256; i++) all += bins[i];
    __assert(all == 256);
}
// warpsmith: grid=1 block=64
__global__ void segments()
{
    using Warp = cub::WarpReduce<int>;
    using Scan = cub::WarpScan<int>;
    using Sort = cub::WarpMergeSort<int, 2>;
    __shared__ typename Warp::TempStorage s[2];
    __shared__ typename Scan::TempStorage t[2];
    __shared__ typename Sort::TempStorage u[2];
    int lane = threadIdx.x % 32, w = threadIdx.x / 32;
    int sum = Warp(s[w]).HeadSegmentedSum(1, lane % 8 == 0);
    if (lane % 8 == 0) __assert(sum == 8);
    int in, ex;
    Scan(t[w]).Scan(1, in, ex, 5, cuda::std::plus<>{});
    __assert(ex == 5 + lane && in == 6 + lane);
    int keys[2] = {63 - 2 * lane, 62 - 2 * lane};
    Sort(u[w]).Sort(keys, Less());
    __assert(keys[0] == 2 * lane && keys[1] == 2 * lane + 1);
}
