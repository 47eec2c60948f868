// Names that both a library and the program have, functions of the user beside built-in ones, and types of expressions.
#include <cub/cub.cuh>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

struct Bounded {
    float value, error;
    Bounded(float v) : value(v), error(0) {}
};
inline Bounded fmaxf(Bounded a, Bounded b) { return a.value > b.value ? a : b; }
template <int N> struct Count { static const int value = N; };
template <class A, class B> struct Sum {};
template <> struct Sum<int, float> { typedef double type; };
template <class A, class B> __device__ typename Sum<A, B>::type joined(A a, B b) { return (double)a + b; }
template <class A> __device__ int joined(A a, A b) { return 2 * (a + b); }
template <class T> __device__ int kind(T) { return 1; }
template <class T> struct Box { T held; };
template <class T> __device__ int kind(const Box<T> &) { return 2; }

// warpsmith: grid=1 block=64 arg x=int[64]=random arg out=int[8]
__global__ void extremes(const int *x, int *out)
{
    typedef cub::BlockReduce<int, 64> Reduce;
    __shared__ typename Reduce::TempStorage storage;
    const int most = Reduce(storage).Reduce(x[threadIdx.x], cub::Max());
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const int least = cg::reduce(warp, x[threadIdx.x], cg::less<int>());
    int less = 0, greater = cg::reduce(warp, x[threadIdx.x], cg::greater<int>());
    for (less = 0; less < 3; less++) greater += 0;
    Count<3> count;
    int list[decltype(count)::value] = {};
    Box<float> box = {1.0f};
    __assert(least <= greater && less == 3 && list[2] == 0);
    __assert(joined(1, 2.0f) == 3.0 && joined(1, 2) == 6 && kind(box) == 2 && kind(1) == 1);
    __assert(__isGlobal(x) && !__isShared(x + 1) && fmaxf(1.0f, 2.0f) == 2.0f);
    if (threadIdx.x == 0) {
        out[0] = most;
        out[decltype(count)::value] = least;
    }
}
