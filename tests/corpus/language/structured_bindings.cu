// Structured bindings of structures, vectors and arrays, by value and by reference, and in loops over ranges.
struct Range {
    int first, last;
    float weight;
};

__device__ Range part(int i, int n)
{
    return {i * n / 4, (i + 1) * n / 4, 0.5f};
}

// warpsmith: grid=1 block=4 arg x=float[64]=zeros arg n=64
__global__ void bindings(float *x, int n)
{
    auto [first, last, weight] = part(threadIdx.x, n);
    for (int i = first; i < last; i++) x[i] += weight;
    __assert(last - first == 16);
    auto [quotient, rest] = make_int2(threadIdx.x / 3, threadIdx.x % 3);
    __assert(3 * quotient + rest == threadIdx.x);
    Range list[2] = {{1, 2, 3.0f}, {4, 5, 6.0f}};
    auto &[a, b] = list;
    a.first = 7;
    int sum = 0;
    for (const auto &[from, to, w] : list) sum += from + to;
    for (auto &[from, to, w] : list) from = to;
    __assert(sum == 18);
    __assert(list[0].first == 2 && b.first == 5);
}
