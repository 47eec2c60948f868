// One storage for two reductions and a scan of a warp, one after the other; scans of tiles with operators.
#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>
#include <cstdio>
#include <cub/cub.cuh>
namespace cg = cooperative_groups;
__global__ void extremes(const int *x, int *sums, int *most, int *before)
{
    typedef cub::WarpReduce<int> Reduce;
    typedef cub::WarpScan<int> Scan;
    __shared__ typename Reduce::TempStorage reduce[2];
    __shared__ typename Scan::TempStorage scan[2];
    int warp = threadIdx.x / 32, v = x[threadIdx.x], inclusive, exclusive;
    int sum = Reduce(reduce[warp]).Sum(v);
    int largest = Reduce(reduce[warp]).Reduce(v, [](int a, int b) { return a > b ? a : b; });
    Scan(scan[warp]).InclusiveSum(v, inclusive);
    Scan(scan[warp]).ExclusiveSum(v, exclusive);
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int least = cg::inclusive_scan(tile, v, cg::plus<int>());
    int so_far = cg::exclusive_scan(tile, v, cg::plus<int>());
    if (threadIdx.x % 32 == 0) {
        sums[warp] = sum;
        most[warp] = largest;
    }
    before[threadIdx.x] = inclusive - exclusive + least + so_far;
}
int main()
{
    int h[64], *x, *out;
    for (int i = 0; i < 64; i++)
        h[i] = i * 13 % 17;
    cudaMalloc(&x, sizeof h);
    cudaMalloc(&out, sizeof h + 4 * sizeof(int));
    cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
    extremes<<<1, 64>>>(x, out, out + 2, out + 4);
    cudaMemcpy(h, out + 4, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d\n", h[5]);
    return 0;
}
