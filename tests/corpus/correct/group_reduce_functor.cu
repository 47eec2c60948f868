// cg::reduce with a lambda, a functor and a struct of two sums; exchanges by rank in a group of coalesced lanes
#include <assert.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

struct Moments {
    float sum, squares;
};

// warpsmith: grid=2 block=64 arg x=float[2][64]=random arg y=float[2][64]
__global__ void normalise(const float *x, float *y)
{
    __shared__ Moments partial[2];
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<32>(block);
    const float v = x[blockIdx.x * 64 + threadIdx.x];
    Moments m{v, v * v};
    m = cg::reduce(tile, m, [](const Moments &a, const Moments &b) {
        return Moments{a.sum + b.sum, a.squares + b.squares};
    });
    if (tile.thread_rank() == 0) partial[tile.meta_group_rank()] = m;
    block.sync();
    const float mean = (partial[0].sum + partial[1].sum) / 64;
    const float variance = (partial[0].squares + partial[1].squares) / 64 - mean * mean;
    y[blockIdx.x * 64 + threadIdx.x] = (v - mean) * rsqrtf(variance + 1e-5f);
}

template <typename T>
struct Larger {
    __device__ T operator()(T const &a, T const &b) const { return a > b ? a : b; }
};

// warpsmith: grid=1 block=64 arg out=int[64]
__global__ void by_rank(int *out)
{
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    const int t = threadIdx.x;
    assert(cg::reduce(tile, t, Larger<int>()) == (t | 15));
    int value = -1;
    if (t % 3 == 0) {
        auto group = cg::coalesced_threads();
        const int rank = group.thread_rank(), size = group.size();
        // Lanes 0, 3, 6 … of the first warp, 1, 4, 7 … of the second.
        const int first = t < 32 ? 0 : 33;
        assert(group.shfl(t, size - 1) == first + 3 * (size - 1));
        value = group.shfl_down(t, 1);
        assert(value == (rank + 1 < size ? t + 3 : t));
        assert(group.shfl_up(t, 2) == (rank >= 2 ? t - 6 : t));
        assert(cg::reduce(group, rank, cg::plus<int>()) == size * (size - 1) / 2);
        assert(cg::reduce(group, t, Larger<int>()) == first + 3 * (size - 1));
    }
    out[t] = value;
}
