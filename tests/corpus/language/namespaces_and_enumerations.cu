// Nested namespaces, scoped enumerations as template arguments, traits with constants, `if constexpr`.
namespace detail {
namespace inner {
enum class Mode : unsigned char { A = 1, B = 2 };
constexpr int K = 3;
} // namespace inner
template <typename T> struct Traits;
template <> struct Traits<float> {
    using wide = double;
    static constexpr int bits = 32;
};
} // namespace detail
using detail::inner::Mode;
template <Mode M> __device__ int chosen()
{
    if constexpr (M == Mode::A)
        return 1;
    else
        return 2;
}
// warpsmith: grid=1 block=32 arg x=int[32]
__global__ void names(int *x)
{
    typename detail::Traits<float>::wide s = 1.5;
    switch (static_cast<Mode>(1 + (threadIdx.x & 1))) {
    case Mode::A: s += 1; break;
    default: s += 2;
    }
    x[threadIdx.x] = chosen<Mode::B>() + (int)s + detail::Traits<float>::bits + static_cast<int>(Mode::A);
    __assert(x[threadIdx.x] == 2 + (threadIdx.x & 1 ? 3 : 2) + 32 + 1);
}
