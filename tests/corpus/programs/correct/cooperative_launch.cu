// A cooperative launch by the run-time library, with the arguments' addresses in an array.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdio>
namespace cg = cooperative_groups;

__device__ void dot(const float *a, const float *b, double *result, int n, const cg::thread_block &block,
                    const cg::grid_group &grid)
{
    extern __shared__ double partial[];
    double sum = 0.0;
    for (int i = grid.thread_rank(); i < n; i += grid.size()) sum += static_cast<double>(a[i] * b[i]);
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    sum = cg::reduce(warp, sum, cg::plus<double>());
    if (warp.thread_rank() == 0) partial[warp.meta_group_rank()] = sum;
    cg::sync(block);
    if (warp.meta_group_rank() == 0) {
        sum = warp.thread_rank() < warp.meta_group_size() ? partial[warp.thread_rank()] : 0.0;
        sum = cg::reduce(warp, sum, cg::plus<double>());
        if (warp.thread_rank() == 0) atomicAdd(result, sum);
    }
}

extern "C" __global__ void normalize(float *x, double *norm, int n, float scale)
{
    cg::thread_block block = cg::this_thread_block();
    cg::grid_group grid = cg::this_grid();
    dot(x, x, norm, n, block, grid);
    cg::sync(grid);
    double length = sqrt(*norm);
    for (int i = grid.thread_rank(); i < n; i += grid.size()) x[i] = scale * (float)(x[i] / length);
}

int main(int argc, char **argv)
{
    int n = 300;
    float *x, scale = 2.0f;
    double *norm;
    cudaDeviceProp properties;
    cudaGetDeviceProperties(&properties, 0);
    if (!properties.cooperativeLaunch) return 2;
    cudaMallocManaged(reinterpret_cast<void **>(&x), sizeof(float) * n);
    cudaMallocManaged(&norm, sizeof(double));
    *norm = 0.0;
    for (int i = 0; i < n; i++) x[i] = i % 7;
    void *arguments[] = {(void *)&x, (void *)&norm, (void *)&n, (void *)&scale};
    int shared = sizeof(double) * (64 / 32 + 1), blocks = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, normalize, 64, shared);
    dim3 grid(2, 1, 1), block(64, 1, 1);
    cudaLaunchCooperativeKernel((void *)normalize, grid, block, arguments, shared, NULL);
    cudaDeviceSynchronize();
    *norm = 0.0;
    cudaLaunchKernel((const void *)normalize, dim3(1), dim3(128), arguments, 64, 0);
    cudaDeviceSynchronize();
    printf("%f\n", x[1]);
    cudaFree(x);
}
