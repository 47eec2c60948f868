// Of `cuda::std` and `cuda::`: spans, arrays, optionals, tuples, operators, operations on bits, algorithms.
#include <cuda/std/algorithm>
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/functional>
#include <cuda/std/numeric>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/cmath>
#include <cuda/functional>
template <typename Op> __device__ int folded(cuda::std::span<const int> s, Op op, int first)
{
    for (int v : s) first = op(first, v);
    return first;
}
// warpsmith: grid=2 block=32 arg x=int[256] arg y=int[64]=zeros arg n=256
__global__ void parts(const int *x, int *y, int n)
{
    cuda::std::span<const int> all(x, n);
    int per = cuda::ceil_div(n, 64), at = (blockIdx.x * 32 + threadIdx.x) * per, sum = 0;
    for (auto v : all.subspan(at, per)) sum += v;
    __assert(sum == folded(all.subspan(at, per), cuda::std::plus<>{}, 0));
    __assert(sum == cuda::std::accumulate(x + at, x + at + per, 0));
    cuda::std::array<int, 4> a{4, 1, 3, 2};
    cuda::std::sort(a.begin(), a.end());
    __assert(a[0] == 1 && a[3] == 4 && a.size() == 4);
    __assert(cuda::std::lower_bound(a.begin(), a.end(), 3) - a.begin() == 2);
    __assert(*cuda::std::max_element(a.begin(), a.end()) == 4);
    __assert(cuda::std::any_of(a.begin(), a.end(), [](int v) { return v == 3; }));
    cuda::std::optional<int> found;
    if (threadIdx.x > 3) found = 5;
    __assert(found.value_or(7) == (threadIdx.x > 3 ? 5 : 7) && found.has_value() == (threadIdx.x > 3));
    __assert(cuda::std::popcount(threadIdx.x) == __popc(threadIdx.x) && cuda::std::countr_zero(8u) == 3);
    __assert(cuda::std::bit_ceil(33u) == 64 && cuda::std::bit_width(5u) == 3 && cuda::std::gcd(12, 18) == 6);
    auto t = cuda::std::make_tuple(1, 2.0f, 3u);
    __assert(cuda::std::get<1>(t) == 2.0f && cuda::maximum<>{}(3, 4) == 4);
    y[blockIdx.x * 32 + threadIdx.x] = sum;
}
