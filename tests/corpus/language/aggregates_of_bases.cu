// Aggregates whose bases are given in braces, those without members too; of a pack of bases the types follow from the values.
// nvcc: -std=c++17
#include <cassert>
template <class... Ts> struct Overloaded : Ts... {
    using Ts::operator()...;
};
template <class... Ts> Overloaded(Ts...) -> Overloaded<Ts...>;
struct Twice {
    __device__ int operator()(int n) const { return 2 * n; }
};
struct Over {
    float by;
    __device__ float operator()(float x) const { return x / by; }
};
struct Empty {};
struct Point {
    int x, y;
};
struct Marked : Empty, Point {
    int mark;
};

// warpsmith: grid=1 block=32 arg a=int[32]
__global__ void aggregates_of_bases(int *a)
{
    int t = threadIdx.x;
    Twice twice;
    Over half{2.0f};
    Overloaded f{twice, half};
    assert(f(t) == 2 * t && f(3.0f) == 1.5f);
    auto g = Overloaded{Over{4.0f}, Twice{}};
    assert(g(3) == 6 && g(2.0f) == 0.5f);
    Overloaded<Twice, Over> h{{}, {8.0f}};
    assert(h(4.0f) == 0.5f);
    Marked m{{}, {1, t}, 7};
    assert(m.x == 1 && m.y == t && m.mark == 7);
    a[t] = f(t) + m.mark;
}
