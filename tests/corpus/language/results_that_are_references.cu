// Return types that follow from what is returned: references by `auto &` and `decltype(auto)`, copies by `auto`, and what
// lambdas say they return.
#include <cassert>

struct Row {
    float d[4];
    __device__ decltype(auto) operator[](int i) { return (d[i]); }
    __device__ auto &at(int i) { return d[i]; }
    __device__ const auto &at(int i) const { return d[i]; }
    __device__ decltype(auto) first() { return d[0]; }
    __device__ auto copy(int i) { return d[i]; }
};

template <typename T> __device__ decltype(auto) element(T &v, int i) { return v[i]; }
template <typename T> __device__ decltype(auto) same(T &v) { return v; }
template <typename T> __device__ auto &&forwarded(T &&v) { return v; }
template <typename F, typename... A> __device__ decltype(auto) call(F &&f, A &&...a) { return f(static_cast<A &&>(a)...); }
__device__ decltype(auto) one() { return 1; }

// warpsmith: grid=1 block=32 arg out=float[32]
__global__ void references(float *out)
{
    Row r{{1, 2, 3, 4}};
    r[1] = 20.0f;
    r.at(2) += 30.0f;
    r.first() = 10.0f;
    assert(r.d[0] == 10 && r.d[1] == 20 && r.d[2] == 33);
    const Row &c = r;
    assert(c.at(1) == 20 && r.copy(3) == 4);
    element(out, threadIdx.x) = 5.0f;
    assert(out[threadIdx.x] == 5);
    int n = 1;
    same(n) = 6;
    assert(n == 6);
    forwarded(n) = 7;
    assert(n == 7);
    call([](int &x) { x = 8; }, n);
    assert(n == 8 && one() == 1);
    call([&](int i) -> float & { return r.d[i]; }, 3) = 40.0f;
    assert(r.d[3] == 40);
}

// warpsmith: grid=1 block=32 arg out=float[32]
__global__ void results_of_lambdas(float *out)
{
    auto real = [](int a) -> float { return a; };
    assert(real(3) / 2 == 1.5f);
    auto small = [](int a) -> unsigned char { return a; };
    assert(small(257) == 1);
    float x[3] = {1, 2, 3};
    auto item = [&](int i) -> float & { return x[i]; };
    item(1) = 5;
    auto other = [&](int i) -> auto & { return x[i]; };
    other(2) = 6;
    auto third = [&](int i) -> decltype(auto) { return (x[i]); };
    third(0) = 7;
    assert(x[0] == 7 && x[1] == 5 && x[2] == 6);
    out[threadIdx.x] = item(0);
}
