// A stencil of any radius along a line that closes on itself: a template of type and radius, and helpers for place and weight.
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace config {
constexpr int kThreads = 256;
constexpr int kRadius = 5;
}  // namespace config

template <typename T>
__host__ __device__ inline T triangle(int offset, int radius)
{
    return T(radius + 1 - (offset < 0 ? -offset : offset));
}

__host__ __device__ inline int wrapped(int at, int n) { return at < 0 ? at + n : at >= n ? at - n : at; }

template <typename T, int RADIUS>
__global__ void __launch_bounds__(config::kThreads) stencil(const T *__restrict__ in, T *__restrict__ out, int n)
{
    __shared__ T line[config::kThreads];
    const int gindex = blockIdx.x * config::kThreads + threadIdx.x;
    if (gindex < n) line[threadIdx.x] = in[gindex];
    __syncthreads();
    if (gindex < n) {
        T result = 0;
#pragma unroll
        for (int offset = -RADIUS; offset <= RADIUS; offset++)
            result += triangle<T>(offset, RADIUS) * __opt__(in[wrapped(gindex + offset, n)]);
        out[gindex] = result;
    }
}

template <typename T>
static int run(int n)
{
    std::vector<T> in(n), out(n);
    for (int i = 0; i < n; i++) in[i] = T((i * 37 + 11) % 101);
    T *d_in = nullptr, *d_out = nullptr;
    cudaMalloc(&d_in, n * sizeof(T));
    cudaMalloc(&d_out, n * sizeof(T));
    cudaMemcpy(d_in, in.data(), n * sizeof(T), cudaMemcpyHostToDevice);
    const int blocks = (n + config::kThreads - 1) / config::kThreads;
    cudaEvent_t start, stop;
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    stencil<T, config::kRadius><<<blocks, config::kThreads>>>(d_in, d_out, n);
    cudaEventRecord(start);
    for (int i = 0; i < 20; i++) stencil<T, config::kRadius><<<blocks, config::kThreads>>>(d_in, d_out, n);
    cudaEventRecord(stop);
    cudaEventSynchronize(stop);
    float ms;
    cudaEventElapsedTime(&ms, start, stop);
    if (cudaMemcpy(out.data(), d_out, n * sizeof(T), cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
    int wrong = 0;
    for (int i = 0; i < n; i++) {
        T expected = 0;
        for (int o = -config::kRadius; o <= config::kRadius; o++) expected += triangle<T>(o, config::kRadius) * in[wrapped(i + o, n)];
        wrong += out[i] != expected;
    }
    printf("%s %.1f us\n", wrong ? "FAILED" : "passed", 1e3f * ms / 20);
    cudaFree(d_in);
    cudaFree(d_out);
    return wrong != 0;
}

int main() { return run<int>((1 << 25) + 77); }
