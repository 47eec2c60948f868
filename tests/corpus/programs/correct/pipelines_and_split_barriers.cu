// A pipeline of two stages for a block, and a barrier at which threads arrive, work, and wait; its end is called by name.
#include <cassert>
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <utility>
namespace cg = cooperative_groups;

template <int BLOCK, int STAGES>
__global__ void scale_stream(const float *__restrict__ in, float *__restrict__ out, int batches, float a)
{
    auto grid = cg::this_grid();
    auto block = cg::this_thread_block();
    __shared__ alignas(16) float buffer[STAGES][BLOCK];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope::thread_scope_block, STAGES> state;
    auto pipe = cuda::make_pipeline(block, &state);
    auto first = [&](int b) {
        return in + (size_t)(b * grid.group_dim().x + block.group_index().x) * BLOCK;
    };
    for (int compute = 0, fetch = 0; compute < batches; ++compute) {
        for (; fetch < batches && fetch < compute + STAGES; ++fetch) {
            pipe.producer_acquire();
            cuda::memcpy_async(
                block, buffer[fetch % STAGES], first(fetch), cuda::aligned_size_t<16>(sizeof(float) * BLOCK), pipe
            );
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        const int slot = compute % STAGES;
        const size_t at = (size_t)(compute * grid.group_dim().x + block.group_index().x) * BLOCK;
        out[at + block.thread_rank()] = a * buffer[slot][BLOCK - 1 - block.thread_rank()];
        pipe.consumer_release();
    }
}

__global__ void reversed(const int *a, int *b)
{
    using barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ barrier bar;
    __shared__ int s[128];
    auto block = cg::this_thread_block();
    if (block.thread_rank() == 0) init(&bar, block.size());
    block.sync();
    s[threadIdx.x] = a[blockIdx.x * 128 + threadIdx.x];
    barrier::arrival_token token = bar.arrive();
    const int other = 127 - threadIdx.x;
    bar.wait(std::move(token));
    b[blockIdx.x * 128 + threadIdx.x] = s[other];
    bar.arrive_and_wait();
    if (threadIdx.x == 0) bar.~barrier();
}

int main()
{
    constexpr int block = 64, batches = 6, blocks = 3, n = block * batches * blocks;
    float *x, *y;
    int *p, *q;
    cudaMallocManaged(&x, n * sizeof(float));
    cudaMallocManaged(&y, n * sizeof(float));
    cudaMallocManaged(&p, 256 * sizeof(int));
    cudaMallocManaged(&q, 256 * sizeof(int));
    for (int i = 0; i < n; i++) x[i] = i;
    for (int i = 0; i < 256; i++) p[i] = i;
    scale_stream<block, 2><<<blocks, block>>>(x, y, batches, 2.0f);
    reversed<<<2, 128>>>(p, q);
    cudaDeviceSynchronize();
    for (int i = 0; i < n; i++) assert(y[i] == 2.0f * (i / block * block + block - 1 - i % block));
    for (int i = 0; i < 256; i++) assert(q[i] == i / 128 * 128 + 127 - i % 128);
    puts("PASS");
    cudaFree(x);
    cudaFree(y);
    cudaFree(p);
    cudaFree(q);
}
