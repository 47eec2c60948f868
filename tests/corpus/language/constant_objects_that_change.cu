// Members that change in constant objects; traits that compare types; numbers that are none.
#include <cassert>
#include <cmath>
#include <type_traits>

struct Cached {
    float x;
    mutable float square = -1.0f;
    mutable int asked = 0;

    __device__ explicit Cached(float v) : x(v) {}
    __device__ float get() const
    {
        ++asked;
        if (square < 0.0f) square = x * x;
        return square;
    }
};

struct Base {};
struct Derived : Base {};

template <class T> struct View {
    T *p;
    int n;
    __device__ View(T *first, int count) : p(first), n(count) {}
    template <class U, std::enable_if_t<std::is_convertible<U *, T *>::value, int> = 0>
    __device__ View(const View<U> &other) : p(other.p), n(other.n) {}
};

__device__ float sum(View<const float> v)
{
    float s = 0.0f;
    for (int i = 0; i < v.n; i++) s += v.p[i];
    return s;
}

// warpsmith: grid=1 block=32 arg x=float[32]=iota arg y=float[32]
__global__ void cached(float *x, float *y)
{
    const Cached c(x[threadIdx.x]);
    y[threadIdx.x] = c.get() + c.get();
    assert(c.asked == 2);

    static_assert(std::is_convertible_v<float *, const float *> && !std::is_convertible_v<const float *, float *>);
    static_assert(std::is_base_of_v<Base, Derived> && !std::is_base_of_v<Derived, Base>);
    static_assert(std::is_reference_v<float &> && !std::is_reference_v<float> && std::is_array_v<int[3]>);
    assert(sum(View<float>(x, 32)) == 496.0f);
    assert(isnan(nanf("")) && isnan(nan("7")));
}
