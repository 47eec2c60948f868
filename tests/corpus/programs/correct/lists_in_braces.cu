// Lists in braces are elements, not sizes; objects are made from numbers by a template's constructor.

#include <cuda_runtime.h>
#include <cstdio>
#include <utility>
#include <vector>

#include <thrust/device_vector.h>

__global__ void scale(float *x, int n, float by)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= by;
}

struct Array {
    std::vector<size_t> extents;
    size_t count = 1;
    float *device;

    explicit Array(std::vector<size_t> shape) : extents(shape)
    {
        for (size_t extent : extents) count *= extent;
        cudaMalloc(&device, count * sizeof(float));
        cudaMemset(device, 0, count * sizeof(float));
    }
};

template <class T>
struct Measured {
    T value;
    bool exact = false;

    Measured() = default;
    template <class U> Measured(U x) : value((T)x), exact(true) {}
    Measured &operator=(const Measured &other)
    {
        value = other.value;
        exact = other.exact;
        return *this;
    }
};

struct Switches {
    const std::vector<int> &list;
    const bool others;
    Switches(const std::vector<int> &list, bool others) : list(list), others(others) {}
};

static size_t total(std::initializer_list<std::pair<const char *, int>> sizes)
{
    size_t all = 1;
    for (const auto &size : sizes) all *= size.second;
    return all;
}

static std::vector<float> weights() { return {0.5f, 2.0f, 4.0f}; }

int main()
{
    const int n = 37;
    Array line({(size_t)n});
    Array plane({(size_t)n, 5});
    scale<<<1, 64>>>(line.device, n, 2.0f);
    scale<<<3, 64>>>(plane.device, 5 * n, 2.0f);

    const std::vector<int> blocks{32, 64, 128};
    const std::vector<int> none;
    Switches all(none, true);
    for (int block : blocks)
        if (all.others) scale<<<(n + block - 1) / block, block>>>(line.device, n, 0.5f);

    Measured<float> factor;
    factor = 3.0f;
    if (factor.exact) scale<<<1, 64>>>(line.device, (int)total({{"x", n}, {"y", 1}}), factor.value);

    for (float w : weights()) scale<<<1, 64>>>(line.device, n, w);

    thrust::device_vector<float> four{1.0f, 2.0f, 3.0f, 4.0f};
    scale<<<1, 4>>>(thrust::raw_pointer_cast(four.data()), (int)four.size(), 2.0f);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
