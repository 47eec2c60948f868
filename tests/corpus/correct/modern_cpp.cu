// C++17 as libraries write it: friends, forwarding references, deduced class arguments, ranges of lists, raw storage
#include <assert.h>
#include <type_traits>
#include <utility>

namespace geo {
struct Vec {
    float x, y;
    __device__ friend Vec operator*(float s, const Vec &v) { return {s * v.x, s * v.y}; }
    friend __device__ float dot(const Vec &a, const Vec &b) { return a.x * b.x + a.y * b.y; }
};
}

template <class F, class... A>
__device__ auto apply(F &&f, A &&...a) -> decltype(f(a...))
{
    return f(std::forward<A>(a)...);
}

template <class F>
struct Guarded {
    F body;
    __device__ explicit Guarded(F f) : body(f) {}
    __device__ void run(int i, int n) const
    {
        if (i < n) body(i);
    }
};

typedef long long wide;

// warpsmith: grid=2 block=32 arg out=float[50] arg n=50
__global__ void modern(float *out, int n)
{
    const int t = threadIdx.x;
    const geo::Vec v = 2.0f * geo::Vec{1.0f, float(t)};
    assert(dot(v, v) == 4.0f + 4.0f * t * t);

    auto twice = [=](int k) { return k * 2 + t; };
    assert(apply(twice, 4) == 8 + t);
    int sum = 0;
    for (int k : {1, 2, 4}) sum += k;
    for (auto k : {t, 1}) sum += k;
    assert(sum == 8 + t);

    // A cast to a typedef behind an operator.
    const int r = 3;
    const wide a = t + (wide)-r, b = t - (wide)+r, c = t * (wide)~r;
    assert(a == t - 3 && b == t - 3 && c == t * -4ll && t + (wide)-r * 2 == t - 6);

    __shared__ std::aligned_storage_t<32 * sizeof(float), 16> raw;
    __shared__ typename std::aligned_storage<sizeof(float4), alignof(float4)>::type one;
    float *s = reinterpret_cast<float *>(&raw);
    s[t] = float(sum);
    if (t == 0) *reinterpret_cast<float4 *>(&one) = make_float4(1, 2, 3, 4);
    __syncthreads();
    Guarded store([=](int i) { out[i] = s[31 - t] + reinterpret_cast<const float4 *>(&one)->y; });
    store.run(blockIdx.x * 32 + t, n);
}
