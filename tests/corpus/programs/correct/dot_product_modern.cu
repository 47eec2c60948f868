// Modern host code: vectors, chrono, auto, lambdas, unique_ptr, exceptions, algorithms, printing by streams.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <numeric>
#include <random>
#include <string>
#include <vector>
#include <cuda_runtime.h>

#define CUDA_CHECK(call)                                                                      \
    do {                                                                                      \
        cudaError_t err = call;                                                               \
        if (err != cudaSuccess) {                                                             \
            std::cerr << "CUDA error at " << __FILE__ << ":" << __LINE__ << " - "             \
                      << cudaGetErrorString(err) << std::endl;                                \
            exit(EXIT_FAILURE);                                                               \
        }                                                                                     \
    } while (0)

template <typename T, int BLOCK>
__global__ void dot(const T *__restrict__ x, const T *__restrict__ y, T *__restrict__ out, const size_t n)
{
    __shared__ T partial[BLOCK];
    T sum{};
    for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += x[i] * y[i];
    partial[threadIdx.x] = sum;
    __syncthreads();
#pragma unroll
    for (int s = BLOCK / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) partial[threadIdx.x] += partial[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(out, partial[0]);
}

int main()
{
    constexpr size_t n = 1000;
    constexpr int block = 128;
    std::vector<float> x(n), y(n);
    std::mt19937 gen(42);
    std::uniform_real_distribution<float> dist(-1.0f, 1.0f);
    std::generate(x.begin(), x.end(), [&]() { return dist(gen); });
    for (auto &v : y) v = dist(gen);
    std::iota(y.begin(), y.end(), 0.0f);
    float *dx = nullptr, *dy = nullptr, *dout = nullptr;
    CUDA_CHECK(cudaMalloc(&dx, n * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&dy, n * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&dout, sizeof(float)));
    CUDA_CHECK(cudaMemcpy(dx, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(dy, y.data(), y.size() * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemset(dout, 0, sizeof(float)));
    auto start = std::chrono::high_resolution_clock::now();
    const auto grid = std::min<size_t>((n + block - 1) / block, 65535);
    dot<float, block><<<grid, block>>>(dx, dy, dout, n);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaDeviceSynchronize());
    auto stop = std::chrono::high_resolution_clock::now();
    std::chrono::duration<double, std::milli> elapsed = stop - start;
    auto time = std::chrono::duration_cast<std::chrono::nanoseconds>(stop - start).count();
    std::cout << "took " << elapsed.count() << " ms " << time * 1e-3 << "\n";
    float result;
    CUDA_CHECK(cudaMemcpy(&result, dout, sizeof(float), cudaMemcpyDeviceToHost));
    float expected = std::inner_product(x.begin(), x.end(), y.begin(), 0.0f);
    std::cout << (std::fabs(result - expected) < 1e-2f * std::fabs(expected) ? "PASS" : "FAIL") << std::endl;
    CUDA_CHECK(cudaFree(dx));
    CUDA_CHECK(cudaFree(dy));
    CUDA_CHECK(cudaFree(dout));
    return 0;
}
