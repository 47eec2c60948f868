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

// Class templates of a namespace whose arguments are numbers: variables of them are no comparisons.
namespace fixed {
template <int N> struct Bits {
    unsigned held[(N + 31) / 32];
    __device__ Bits(unsigned first = 0) { held[0] = first; }
    __device__ bool test(int i) const { return held[i / 32] >> i % 32 & 1; }
};
}  // namespace fixed

// warpsmith: grid=1 block=32 arg x=int[32]
__global__ void numbers_as_arguments(int *x)
{
    fixed::Bits<40> none;
    fixed::Bits<40> some(5);
    const fixed::Bits<40> *at = &some;
    x[threadIdx.x] = some.test(2);
    __assert(at->test(0) && !at->test(1) && !none.test(0));
}

// Enumerations without a name that say their type.
enum : int { EMPTY, READY = 4, DONE };
struct Slot {
    enum : unsigned char { WIDTH = 3, };
    int state;
};

// warpsmith: grid=1 block=32 arg x=int[32]
__global__ void states_without_names(int *x)
{
    enum : short { STEP = 2 };
    Slot slot = {threadIdx.x % 2 ? READY : EMPTY};
    x[threadIdx.x] = slot.state + Slot::WIDTH * STEP + DONE;
    __assert(x[threadIdx.x] == (threadIdx.x % 2 ? 15 : 11));
}
