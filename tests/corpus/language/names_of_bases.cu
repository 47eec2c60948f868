// Functions of bases under one name, of each of a pack of bases and beside the class's own; conversions that are called by name.
#include <cassert>
template <class... Ts> struct Overloaded : Ts... {
    using Ts::operator()...;
};
struct Twice {
    __device__ int operator()(int n) const { return 2 * n; }
};
struct Half {
    float by;
    __device__ float operator()(float x) const { return x / by; }
};
struct Base {
    __device__ int of(int n) const { return n; }
    __device__ int of(const int *p) const { return *p; }
};
struct Own : Base {
    using Base::of;
    __device__ int of(int n) const { return n + 1; }
    __device__ int of(double x) const { return -1; }
};
struct Number {
    float x;
    __device__ explicit operator float() const { return x; }
    __device__ operator unsigned int() const { return 7; }
};
template <typename T> __device__ T as(const Number *n) { return n->operator T(); }

// warpsmith: grid=1 block=32 arg a=int[32]
__global__ void names_of_bases(int *a)
{
    int t = threadIdx.x, five = 5;
    Overloaded<Twice, Half> both;
    both.by = 2.0f;
    assert(both(t) == 2 * t && both(3.0f) == 1.5f);
    Own own;
    assert(own.of(3) == 4 && own.of(&five) == 5 && own.of(1.0) == -1);
    Number n{2.5f};
    assert(n.operator float() == 2.5f && n.operator unsigned int() == 7 && as<float>(&n) == 2.5f);
    a[t] = both(t);
}

// warpsmith: grid=1 block=32 arg a=int[32]
__global__ void asks_for_its_own_type(int *a)
{
    extern __shared__ int rows[];
    int(*tile)[4][8] = reinterpret_cast<decltype(tile)>(a);
    int i = threadIdx.x;
    tile[0][i / 8][i % 8] = sizeof(decltype(tile)) + i;
}
