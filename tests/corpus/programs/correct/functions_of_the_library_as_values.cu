// Owners that call functions of the run-time library, methods as template arguments, values of any type
#include <any>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>
#include <cuda_runtime.h>

struct Rule {
    int base;
    __host__ __device__ int plus(int x) const { return base + x; }
    __host__ __device__ int times(int x) const { return base * x; }
    __host__ __device__ int both(int x) const {
        int (Rule::*f)(int) const = &Rule::times;
        return (*this.*f)(x) + (this->*f)(x);
    }
};

template <int (Rule::*M)(int) const> __device__ int called(const Rule &rule, int x) { return (rule.*M)(x); }

__global__ void apply(int *a, Rule rule, bool product, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] = (product ? called<&Rule::times>(rule, i) : called<&Rule::plus>(rule, i)) + rule.both(2);
}

using Memory = std::unique_ptr<int, decltype(&cudaFree)>;

static Memory made(size_t n) {
    int *p = nullptr;
    cudaMalloc(reinterpret_cast<void **>(&p), n * sizeof(int));
    return Memory(p, &cudaFree);
}

int main() {
    std::any size = 96;
    int n = std::any_cast<int>(size), width = n / 3;
    size = std::string("many");
    if (std::any_cast<std::string>(&size) == nullptr) return 2;
    Memory sums = made(n), products(nullptr, cudaFree);
    products = made(n);
    std::vector<int> a(n), b(n);
    apply<<<n / width, width>>>(sums.get(), Rule{3}, false, n);
    apply<<<n / width, width>>>(products.get(), Rule{3}, true, n);
    cudaMemcpy(a.data(), sums.get(), n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(b.data(), products.get(), n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaError_t (*release)(void *) = cudaFree;
    void *scratch = nullptr;
    cudaMalloc(&scratch, 64);
    release(scratch);
    for (int i = 0; i < n; i++)
        if (a[i] != i + 15 || b[i] != 3 * i + 12) return 1;
    return 0;
}
