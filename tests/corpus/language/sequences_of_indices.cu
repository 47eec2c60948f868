// Numbers in order as template arguments: `std::make_index_sequence` and its kin.
#include <utility>

template <int... I> __device__ int total(std::integer_sequence<int, I...>) { return (0 + ... + I); }
template <typename F, size_t... I> __device__ void each(F f, std::index_sequence<I...>) { (f(I), ...); }
template <int N, typename F> __device__ void unrolled(F f) { each(f, std::make_index_sequence<N>{}); }
template <typename... T> __device__ int positions(T...)
{
    int listed = std::index_sequence_for<T...>::size();
    return listed + (int)sizeof...(T);
}

// warpsmith: grid=1 block=32 arg x=int[32]
__global__ void sequences(int *x)
{
    int t = threadIdx.x, sum = 0;
    __assert(total(std::make_integer_sequence<int, 5>{}) == 10);
    unrolled<4>([&](int i) { sum += (i + 1) * t; });
    __assert(sum == 10 * t);
    __assert(positions(1, 2.0f, 'c') == 6);
    x[t] = sum;
}
