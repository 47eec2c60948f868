// Class templates as template arguments: with and without a default, deduced, alias templates, of template functions.
#include <cassert>
template <typename T> struct Sum {
    static constexpr T start = T(0);
    __device__ static T join(T a, T b) { return a + b; }
};
template <typename T> struct Most {
    static constexpr T start = T(-1000);
    __device__ static T join(T a, T b) { return a > b ? a : b; }
};
template <typename T> using Total = Sum<T>;

template <template <typename> class Op, typename T, int N> __device__ T fold(const T (&x)[N])
{
    T all = Op<T>::start;
    for (int i = 0; i < N; i++) all = Op<T>::join(all, x[i]);
    return all;
}

template <typename T, template <class> class Op = Sum> struct Folder {
    T held = Op<T>::start;
    __device__ void take(T x) { held = Op<T>::join(held, x); }
};

template <typename T> struct Box { T value; };
template <typename T> struct Crate { T value; };
template <template <typename> class Holder, typename T> __device__ T opened(const Holder<T> &h) { return h.value; }
template <template <typename> class Holder, typename T> struct Same { static constexpr bool box = false; };
template <typename T> struct Same<Box, T> { static constexpr bool box = true; };

// warpsmith: grid=1 block=32 arg x=int[32]=iota arg out=int[32]
__global__ void several(const int *x, int *out)
{
    int four[4] = {x[0], x[1], x[2], x[3]};
    assert(fold<Sum>(four) == 6 && fold<Most>(four) == 3 && (fold<Total, int, 4>(four)) == 6);
    Folder<float> sum;
    sum.take(2.0f);
    assert(sum.held == 2.0f);
    Folder<int, Most> most;
    for (int i = 0; i < 32; i++) most.take(x[i]);
    assert(most.held == 31);
    Box<int> box{5};
    Crate<float> crate{2.5f};
    assert(opened(box) == 5 && opened(crate) == 2.5f);
    assert((Same<Box, int>::box) && !(Same<Crate, int>::box));
    out[threadIdx.x] = x[threadIdx.x];
}
