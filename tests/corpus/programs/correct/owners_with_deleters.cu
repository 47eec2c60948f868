// Memory of the device behind owners with deleters of their own, data from a generator, two buffers that change places.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

using real = double;

struct Free {
    void operator()(void *p) const { cudaFree(p); }
};
template <typename T> using Owned = std::unique_ptr<T[], Free>;

template <typename T> Owned<T> allocate(std::size_t n)
{
    T *p = nullptr;
    if (cudaMalloc(reinterpret_cast<void **>(&p), n * sizeof(T)) != cudaSuccess) std::exit(1);
    return Owned<T>(p);
}

template <typename T, int N> struct Weights {
    T w[N];
    constexpr __host__ __device__ T operator[](int i) const { return w[i]; }
};

template <typename T, int N>
__global__ void smooth(const T *__restrict__ in, T *__restrict__ out, int n, Weights<T, N> weights)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        T sum{};
#pragma unroll
        for (int k = 0; k < N; ++k) {
            int j = i + k - N / 2;
            j = j < 0 ? 0 : (j >= n ? n - 1 : j);
            sum += weights[k] * in[j];
        }
        out[i] = sum;
    }
}

int main()
{
    const int n = 1000, steps = 3;
    std::vector<real> h(n);
    std::mt19937 generator(42);
    std::uniform_real_distribution<real> distribution(0.0, 1.0);
    std::generate(h.begin(), h.end(), [&] { return distribution(generator); });
    auto a = allocate<real>(n), b = allocate<real>(n);
    cudaMemcpy(a.get(), h.data(), h.size() * sizeof(real), cudaMemcpyHostToDevice);
    Weights<real, 3> weights{{0.25, 0.5, 0.25}};
    auto start = std::chrono::high_resolution_clock::now();
    for (int step = 0; step < steps; ++step) {
        smooth<<<std::min((n + 255) / 256, 2), 256>>>(a.get(), b.get(), n, weights);
        std::swap(a, b);
    }
    cudaDeviceSynchronize();
    std::chrono::duration<double, std::milli> time = std::chrono::high_resolution_clock::now() - start;
    cudaMemcpy(h.data(), a.get(), h.size() * sizeof(real), cudaMemcpyDeviceToHost);
    real sum = std::accumulate(h.begin(), h.end(), real(0));
    std::cout << sum << " in " << time.count() << " ms\n";
    return 0;
}
