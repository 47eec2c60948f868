// Order of a class that the compiler writes, or that is written once; a condition behind the parameters; values that another
// thread of the host would compute.
// nvcc: -std=c++20 --expt-relaxed-constexpr
#include <cassert>
#include <compare>
#include <concepts>
#include <future>

struct Version {
    int major_part, minor_part;
    auto operator<=>(const Version &) const = default;
};

struct Weight {
    int grams;
    int label;
    __host__ __device__ std::strong_ordering operator<=>(const Weight &other) const { return grams <=> other.grams; }
    __host__ __device__ bool operator==(const Weight &other) const { return grams == other.grams; }
};

template <typename T> __device__ T halved(T x) requires (sizeof(T) == 4) { return x / 2; }

__global__ void compare(int n, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Version here{i / 8, i % 8}, other{3, 4};
    Weight light{i, 1}, heavy{20, 2};
    out[i] = (here < other) + 2 * (here == other) + 4 * (light >= heavy) + 8 * (light == heavy) + 16 * ((i <=> 5) > 0);
    auto order = here <=> other;
    if (order > 0) out[i] += 32;
    out[i] += 64 * (here != other) + 128 * halved(i);
}

int twice(int x) { return 2 * x; }

int main()
{
    auto count = std::async(std::launch::async, [] { return 40; });
    std::future<int> threads = std::async(twice, 16);
    int n = count.get(), host[40];
    int *out;
    cudaMalloc(&out, n * sizeof(int));
    int block = threads.get();
    compare<<<(n + block - 1) / block, block>>>(n, out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    assert(host[0] == 1 + 64);
    assert(host[28] == 2 + 4 + 16 + 128 * 14);
    assert(host[20] == 1 + 4 + 8 + 16 + 64 + 128 * 10);
    assert(host[39] == 4 + 16 + 32 + 64 + 128 * 19);
    cudaFree(out);
    return 0;
}
