// Parameter packs: recursion over them, folds with and without a first value, their lengths.
template <typename T> __device__ T sum(T a) { return a; }
template <typename T, typename... R> __device__ T sum(T a, R... rest) { return a + sum(rest...); }
template <typename... A> __device__ int from_left(A... a) { return (100 - ... - a); }
template <typename... A> __device__ int from_right(A... a) { return (a - ... - 1); }
template <typename... A> __device__ bool all_positive(A... a) { return (... && (a > 0)); }
template <typename T, T... values> __device__ int number() { return sizeof...(values); }
template <typename... A> __device__ int count(A...) { return sizeof...(A); }
template <int... I> __device__ int total() { return (I + ... + 0); }

// As folds were written before there were any.
template <int... I> __device__ int before_folds()
{
    int sum = 0;
    int each[] = {(sum += I, sum)...};
    return sum + each[1];
}

// warpsmith: grid=1 block=32 arg x=int[32]
__global__ void packs(int *x)
{
    int t = threadIdx.x;
    x[t] = sum(1, 2, 3) + from_left(1, 2, 3) + from_right(5, 2) + number<int, 4, 5>() + count(t, 2.0f, 'c');
    __assert(x[t] == 6 + 94 + (5 - (2 - 1)) + 2 + 3);
    __assert(from_left() == 100 && total<>() == 0 && total<1, 2, 4>() == 7);
    __assert(all_positive(1, t + 1) && !all_positive(1, -t));
    __assert(before_folds<1, 2, 4>() == 10);
    int n = 1, in_turn[] = {n, ++n, n++, n};
    __assert(in_turn[0] == 1 && in_turn[1] == 2 && in_turn[2] == 2 && in_turn[3] == 3);
}
