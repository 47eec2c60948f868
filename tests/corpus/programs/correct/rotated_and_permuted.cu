// What the host makes with <algorithm>, <numeric>, <span> and <bitset>; the kernel asserts what came of it.
// nvcc: -std=c++20
#include <algorithm>
#include <bitset>
#include <cassert>
#include <functional>
#include <numeric>
#include <span>
#include <utility>
#include <vector>
#include <cuda.h>
#include <nvtx3/nvToolsExt.h>

__global__ void check(const int *x, const int *expected, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) assert(x[i] == expected[i]);
}

__global__ void twice(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}

static void compare(const std::vector<int> &got, const std::vector<int> &expected)
{
    if (got.size() != expected.size()) abort();
    const int n = (int)got.size();
    int *x, *y;
    cudaMalloc(&x, n * sizeof(int));
    cudaMalloc(&y, n * sizeof(int));
    cudaMemcpy(x, &got.front(), n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(y, expected.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    check<<<(n + 31) / 32, 32>>>(x, y, n);
    cudaFree(x);
    cudaFree(y);
}

int main()
{
    nvtxRangePushA("algorithms");
    std::vector<int> a(7);
    std::iota(a.begin(), a.end(), 0);
    auto first = std::rotate(a.begin(), a.begin() + 3, a.end());
    compare(a, {3, 4, 5, 6, 0, 1, 2});
    compare({*first, (int)(first - a.begin())}, {0, 4});

    std::vector<int> b(7), c;
    std::rotate_copy(a.begin(), a.begin() + 2, a.end(), b.begin());
    compare(b, {5, 6, 0, 1, 2, 3, 4});
    std::swap_ranges(b.begin(), b.begin() + 2, b.begin() + 5);
    std::replace(b.begin(), b.end(), 0, 9);
    compare(b, {3, 4, 9, 1, 2, 5, 6});
    std::copy_backward(b.begin(), b.begin() + 5, b.end());
    compare(b, {3, 4, 3, 4, 9, 1, 2});
    b.erase(std::remove(b.begin(), b.end(), 4), b.end());
    compare(b, {3, 3, 9, 1, 2});
    std::vector<int> sums(b.size());
    std::partial_sum(b.begin(), b.end(), sums.begin(), std::plus<int>());
    compare(sums, {3, 6, 15, 16, 18});
    std::adjacent_difference(sums.begin(), sums.end(), sums.begin());
    compare(sums, {3, 3, 9, 1, 2});
    compare({std::reduce(b.begin(), b.end(), 0), std::accumulate(b.begin(), b.end(), 1, std::multiplies<int>())}, {18, 162});

    std::vector<int> left = {1, 3, 5, 7}, right = {3, 4, 7, 8}, out(8);
    compare({(int)(std::set_union(left.begin(), left.end(), right.begin(), right.end(), out.begin()) - out.begin())}, {6});
    out.resize(6);
    compare(out, {1, 3, 4, 5, 7, 8});
    out.resize(std::set_intersection(left.begin(), left.end(), right.begin(), right.end(), out.begin()) - out.begin());
    compare(out, {3, 7});
    out.resize(4);
    out.resize(std::set_difference(left.begin(), left.end(), right.begin(), right.end(), out.begin()) - out.begin());
    compare(out, {1, 5});
    auto same = std::equal_range(right.begin(), right.end(), 7);
    compare({(int)(same.first - right.begin()), (int)(same.second - right.begin())}, {2, 3});

    std::vector<int> p = {1, 2, 3};
    int permutations = 1;
    while (std::next_permutation(p.begin(), p.end())) permutations++;
    compare({permutations, p[0], p[1], p[2]}, {6, 1, 2, 3});
    std::prev_permutation(p.begin(), p.end());
    compare(p, {3, 2, 1});

    std::vector<int> heap = {4, 1, 7, 3};
    std::make_heap(heap.begin(), heap.end());
    int top = heap.front();
    std::pop_heap(heap.begin(), heap.end());
    heap.pop_back();
    compare({top, heap.front()}, {7, 4});

    std::bitset<40> bits(5);
    bits.set(33);
    bits.flip(0);
    compare({(int)bits.count(), bits.test(2), bits[33], bits.none()}, {2, 1, 1, 0});

    std::span<int> middle{a};
    middle = middle.subspan(2, 3);
    for (int &v : middle) v += 10;
    compare({(int)middle.size_bytes(), middle.front(), a[4], a.at(5)}, {12, 15, 10, 1});
    compare({std::exchange(top, 2), top}, {7, 2});
    nvtxRangePop();

    int *d, n = 7;
    cudaMalloc(&d, n * sizeof(int));
    cudaMemcpy(d, a.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    void *arguments[] = {&d, &n};
    CUfunction function;
    cudaGetFuncBySymbol(&function, (const void *)twice);
    cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, 0, arguments, nullptr);
    cudaMemcpy(a.data(), d, n * sizeof(int), cudaMemcpyDeviceToHost);
    compare(a, {6, 8, 30, 32, 20, 2, 4});
    cudaFree(d);
    return 0;
}
