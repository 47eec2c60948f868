// Files add to the namespaces of libraries: specialisations, functions for types of their own, and names beside those
// that the library has.
#include <cassert>
#include <cmath>
#include <cuda/std/tuple>
#include <functional>
#include <limits>
#include <type_traits>

struct Fixed {
    int v;
    __host__ __device__ bool operator<(const Fixed &o) const { return v < o.v; }
};

namespace std {
template <> struct hash<Fixed> {
    __host__ __device__ size_t operator()(const Fixed &f) const { return 31 * f.v; }
};
template <typename T> struct rounds_down : false_type {};
template <> struct rounds_down<Fixed> : true_type {};
__host__ __device__ inline Fixed abs(const Fixed &f) { return Fixed{f.v < 0 ? -f.v : f.v}; }
}

namespace cuda { namespace std {
template <typename T> struct of_file { static constexpr int value = sizeof(T); };
} }

const float lowest = -std::numeric_limits<float>::infinity();
constexpr float most = std::numeric_limits<short>::max();

using namespace std;

// warpsmith: grid=1 block=32 arg out=float[32]
__global__ void added(float *out)
{
    const Fixed f{-(int)threadIdx.x};
    assert(std::abs(f).v == threadIdx.x && std::abs(-2.5f) == 2.5f);
    assert(std::hash<Fixed>()(f) == (size_t)(31 * f.v));
    static_assert(std::rounds_down<Fixed>::value && !std::rounds_down<int>::value, "");
    static_assert(std::is_same<std::remove_const<const int>::type, int>::value, "");
    auto pair = cuda::std::make_tuple(1, 2.0f);
    assert(cuda::std::get<1>(pair) == 2.0f && cuda::std::of_file<double>::value == 8);
    out[threadIdx.x] = std::sqrt(4.0f) + (threadIdx.x < 40 ? 4 : 3) + (lowest < 0 ? 1 : 0) + most;
    assert(out[threadIdx.x] == 2.0f + 4.0f + 1.0f + 32767.0f);
}
