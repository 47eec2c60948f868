// Requirements of templates: expressions, types, conditions, and what an expression gives.
#include <concepts>
template <typename T> concept HasSize = requires(const T &t) { t.size(); };
template <typename T> concept Number = requires(T a, T b) {
    { a + b } -> std::same_as<T>;
    { a < b } -> std::convertible_to<bool>;
    requires (sizeof(T) >= 4);
};
template <typename T> concept Named = requires { typename T::value_type; };
struct Pair {
    typedef int value_type;
    int a, b;
    __device__ int size() const { return 2; }
};
class Closed {
    int length;
    __device__ int size() const { return length; }
public:
    template <typename T> static constexpr bool sees = requires(const T &t) { t.size(); };
};
class Open : public Pair {
    int more;
};
static_assert(HasSize<Pair> && !HasSize<int> && !HasSize<Closed> && HasSize<Open>);
static_assert(Closed::sees<Closed>);
static_assert(Number<float> && !Number<Pair> && !Number<short>);
static_assert(Named<Pair> && !Named<float>);
template <typename T> __device__ int count(const T &t)
{
    if constexpr (requires { t.size(); }) return t.size();
    else return 1;
}
template <typename T> requires HasSize<T> __device__ int kind(const T &) { return 1; }
template <typename T> __device__ int kind(const T &) { return 2; }
template <Number T> __device__ T twice(T x) { return x + x; }
__global__ void asks(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __assert(count(Pair{1, 2}) == 2 && count(i) == 1);
    __assert(kind(Pair{1, 2}) == 1 && kind(i) == 2);
    out[i] = twice(i);
}
int main()
{
    const int n = 64;
    int *out;
    cudaMalloc(&out, n * sizeof(int));
    asks<<<2, 32>>>(out, n);
    cudaDeviceSynchronize();
}
