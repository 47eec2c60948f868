// Limits of numbers by macros, traits of types, functions chosen by enable_if, types of expressions.
#include <cfloat>
#include <climits>
#include <cstdint>
#include <type_traits>
template <typename T, typename = typename std::enable_if<std::is_integral<T>::value>::type> __device__ int kind(T)
{
    return 1;
}
__device__ int kind(float) { return 2; }

// warpsmith: grid=1 block=32 arg x=float[32] arg y=int[32]
__global__ void numbers(float *x, int *y)
{
    static_assert(sizeof(float) == 4, "as everywhere");
    x[threadIdx.x] = -FLT_MAX + FLT_EPSILON;
    __assert(x[threadIdx.x] == -FLT_MAX);
    y[threadIdx.x] = kind(3) + kind(2.0f) + (std::is_same<int, int32_t>::value ? INT_MAX : INT_MIN) / 2;
    decltype(x[0] + 1.0) wide = 2;
    y[threadIdx.x] -= (int)wide;
    __assert(y[threadIdx.x] == INT_MAX / 2 + 1);
}
