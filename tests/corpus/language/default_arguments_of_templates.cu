// Functions whose parameters leave out arguments that a template has by default.
#include <assert.h>
struct Even {};
template <typename T, int N = 4, typename Tag = Even> struct Pack {
    T v[N];
};
template <typename T> __device__ T sum(const Pack<T> &p) { return p.v[0] + p.v[1] + p.v[2] + p.v[3]; }
template <typename T, int N> __device__ int count(const Pack<T, N> &) { return N; }
template <typename T> __device__ int kind(const Pack<T, 2> &) { return 2; }
template <typename T> __device__ int kind(const Pack<T> &) { return 4; }
// warpsmith: grid=1 block=1 arg x=int[1]
__global__ void f(int *x)
{
    Pack<int> four = {{1, 2, 3, 4}};
    Pack<float, 2> two = {{1.0f, 2.0f}};
    assert(sum(four) == 10 && count(two) == 2 && count(four) == 4);
    assert(kind(four) == 4 && kind(two) == 2);
    x[0] = sum(four);
}
