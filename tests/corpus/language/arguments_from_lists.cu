// Template arguments of classes from lists: an array's element and length, packs of pointers, `typename` where a value stands.
// nvcc: --expt-relaxed-constexpr
#include <cassert>
#include <array>
template <typename T, int N> struct Row {
    T x[N];
    __device__ T sum() const
    {
        T all = 0;
        for (int i = 0; i < N; i++) all += x[i];
        return all;
    }
};
template <int... I> struct Numbers {};
template <int N, int... I> struct Upto {
    using type = typename Upto<N - 1, N - 1, I...>::type;
};
template <int... I> struct Upto<0, I...> {
    using type = Numbers<I...>;
};
template <int... I> __device__ int dot(const int *x, Numbers<I...>) { return ((x[I] * I) + ...); }
template <typename... T> __device__ float first_of(int i, const T *...x) { return (float(x[i]) + ... + 0.0f); }

// warpsmith: grid=1 block=32 arg x=int[64]=iota arg y=float[64]=iota arg out=float[32]
__global__ void lists(const int *x, const float *y, float *out)
{
    int t = threadIdx.x;
    std::array three{1, 2, 3};
    assert(three.size() == 3 && three[2] == 3);
    assert(dot(x + t, typename Upto<4>::type{}) == 6 * t + 14);
    out[t] = first_of(t, x, y, x + 1);
    assert(out[t] == 3 * t + 1);
}
