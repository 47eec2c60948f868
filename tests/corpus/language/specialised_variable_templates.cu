// Variable templates with explicit and partial specialisations, and variables of the type `decltype(auto)`.
template <int N> constexpr int square = N * N;
template <> constexpr int square<3> = 10;
template <typename T> inline constexpr bool is_single = false;
template <> inline constexpr bool is_single<float> = true;
template <typename T> constexpr int stars = 0;
template <typename T> constexpr int stars<T *> = 1 + stars<T>;
template <typename A, typename B> constexpr bool same = false;
template <typename A> constexpr bool same<A, A> = true;

template <typename T> __device__ int kinds() { return is_single<T> + 2 * stars<T>; }

// warpsmith: grid=1 block=32 arg out=int[32]
__global__ void values(int *out)
{
    __assert(square<4> + square<3> == 26);
    __assert(kinds<float>() == 1 && kinds<int **>() == 4 && kinds<int>() == 0);
    __assert(same<int, int> && !same<int, float>);
    int row[4] = {1, 2, 3, 4};
    decltype(auto) second = (row[1]);
    second = 7;
    decltype((row[2])) third = row[2];
    third += 5;
    int first = row[0];
    decltype(auto) own = first;
    own = 9;
    __assert(row[1] == 7 && row[2] == 8 && first == 1 && own == 9);
    out[threadIdx.x] = row[threadIdx.x % 4];
}
