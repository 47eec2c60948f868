// Diffusion in a plane with clamped edges, nine points; the arrays are swapped by std::swap. The plan is left to the tool (`--auto`).
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

constexpr int TILE_W = 32;
constexpr int TILE_H = 8;

__device__ __forceinline__ int inside(int v, int n) { return min(max(v, 0), n - 1); }

template <typename T>
__global__ void __launch_bounds__(TILE_W * TILE_H) diffuse(T *dst, const T *src, const unsigned n, T rate)
{
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x = blockIdx.x * TILE_W + tx;
    const int y = blockIdx.y * TILE_H + ty;
    if (x >= n || y >= n) return;
    T sum = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) sum += src[inside(y + dy, n) * n + inside(x + dx, n)];
    dst[y * n + x] = src[y * n + x] + rate * (sum - T(9) * src[y * n + x]);
}

static void on_host(std::vector<float> &dst, const std::vector<float> &src, int n, float rate)
{
    auto at = [&](int y, int x) {
        return src[(size_t)(y < 0 ? 0 : y >= n ? n - 1 : y) * n + (x < 0 ? 0 : x >= n ? n - 1 : x)];
    };
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            float sum = 0;
            for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++) sum += at(y + dy, x + dx);
            dst[(size_t)y * n + x] = at(y, x) + rate * (sum - 9.0f * at(y, x));
        }
}

static int run(unsigned n, int steps, bool check, float &us)
{
    std::vector<float> host((size_t)n * n), result(host.size());
    for (size_t i = 0; i < host.size(); i++) host[i] = (float)(i * 2654435761u % 1000) / 1000.0f;
    float *src, *dst;
    cudaMalloc(&src, host.size() * sizeof(float));
    cudaMalloc(&dst, host.size() * sizeof(float));
    cudaMemcpy(src, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
    dim3 block(TILE_W, TILE_H), grid((n + TILE_W - 1) / TILE_W, (n + TILE_H - 1) / TILE_H);
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    cudaEventRecord(begin);
    for (int t = 1; t <= steps; ++t) {
        diffuse<float><<<grid, block>>>(dst, src, n, 0.05f);
        std::swap(dst, src);
    }
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&us, begin, end);
    us *= 1000.0f / steps;
    cudaMemcpy(result.data(), src, host.size() * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(src);
    cudaFree(dst);
    if (cudaGetLastError() != cudaSuccess) return 0;
    if (!check) return 1;
    std::vector<float> other(host.size());
    for (int t = 0; t < steps; t++) {
        on_host(other, host, (int)n, 0.05f);
        host.swap(other);
    }
    double worst = 0;
    for (size_t i = 0; i < host.size(); i++) worst = std::fmax(worst, std::fabs(host[i] - result[i]));
    return worst < 1e-5;
}

int main()
{
    float us = 0;
    for (int steps = 1; steps < 9; steps++)
        if (!run(263, steps, true, us)) {
            printf("FAILED after %d steps\n", steps);
            return 1;
        }
    if (!run(8192, 100, false, us)) return 2;
    printf("passed %.1f us a step\n", us);
    return 0;
}
