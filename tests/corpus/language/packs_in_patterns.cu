// Packs expanded in lists of values and in patterns of types; results that are there for some types only.
// warpsmith: grid=1 block=32 arg out=int[32]
#include <array>
#include <cassert>
#include <tuple>
#include <type_traits>
#include <utility>
template <typename T, size_t... I> __host__ __device__ constexpr std::array<T, sizeof...(I)> squares(std::index_sequence<I...>)
{
    return std::array<T, sizeof...(I)>{ T(I * I)... };
}
template <typename T> struct plain { typedef T type; };
template <typename T> struct plain<T &> { typedef T type; };
template <typename... T> __device__ std::tuple<typename plain<T>::type...> values(const std::tuple<T...> &t)
{
    std::tuple<typename plain<T>::type...> v;
    v = t;
    return v;
}
template <typename T> __device__ std::enable_if_t<(sizeof(T) > 4), T> next(T x) { return x + 2; }
template <typename T> __device__ typename std::enable_if<(sizeof(T) <= 4), T>::type next(T x) { return x + 1; }
template <typename... T> __device__ int sum(T... v)
{
    int all[] = { static_cast<int>(v)... };
    int s = 0;
    for (int x : all) s += x;
    return s;
}
__global__ void patterns(int *out)
{
    int i = threadIdx.x;
    auto s = squares<int>(std::make_index_sequence<5>());
    assert(s[4] == 16 && s.size() == 5);
    float f = 1.5f;
    std::tuple<int &, float &> refs = std::tie(out[i], f);
    std::get<0>(refs) = i;
    auto copy = values(refs);
    std::get<0>(refs) = -1;
    auto [a, b] = copy;
    assert(a == i && b == 1.5f && out[i] == -1);
    std::tuple<int, float, char, double, short> many(1, 2.0f, 'c', 4.0, 5);
    assert(std::get<4>(many) == 5 && std::tuple_size<decltype(many)>::value == 5);
    assert(next(1) == 2 && next(1.0) == 3.0 && next(1LL) == 3);
    assert(sum(1, 2.5f, 'a') == 100);
    out[i] = s[i % 5];
}
