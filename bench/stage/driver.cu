// Checks and times one kernel of heat or Himeno: nvcc -DHEAT -DKERNEL='"hand/heat_tile.cu"' driver.cu
//
// A kernel file defines BX and BY, the threads of a block, and may define the points that a thread computes along each
// axis: POINTS_X, POINTS_Y, and POINTS_Z, which is 0 where a thread goes through all planes. It may have a host program, and it may define LAUNCH, a function that launches the kernel.
// Prints one line: median and least time of a step in microseconds, and the largest relative error.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define main main_of_the_file
#include KERNEL
#undef main

#ifndef POINTS_X
#define POINTS_X 1
#endif
#ifndef POINTS_Y
#define POINTS_Y 1
#endif
#ifndef POINTS_Z
#define POINTS_Z 0
#endif

namespace bench {

static const int ROUNDS = 60, WARM = 5;

static void must(cudaError_t code, const char *what) {
    if (code != cudaSuccess) {
        printf("failed: %s: %s\n", what, cudaGetErrorString(code));
        exit(1);
    }
}

__global__ void fill(float *x, size_t n, unsigned seed) {
    size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        unsigned long long bits = (i + 1) * 0x9E3779B97F4A7C15ull + seed * 0xD1B54A32D192ED03ull;
        bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9ull;
        x[i] = 0.1f + (float)(bits >> 40) * (0.9f / (1 << 24));
    }
}

#ifdef HEAT
static const int NX = 512, NY = 512, NZ = 512, ARRAYS = 1, INNER = 0;
__global__ void plainly(float **a, float *out, int nx, int ny, int nz) {
    const float *in = a[0];
    size_t n = (size_t)nx * ny * nz, plane = (size_t)nx * ny;
    size_t c = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= n) return;
    int i = c % nx, j = c / nx % ny, k = c / plane;
    out[c] = 0.4f * in[c] + 0.11f * in[i == 0 ? c : c - 1] + 0.09f * in[i == nx - 1 ? c : c + 1]
           + 0.12f * in[j == 0 ? c : c - nx] + 0.08f * in[j == ny - 1 ? c : c + nx]
           + 0.13f * in[k == 0 ? c : c - plane] + 0.07f * in[k == nz - 1 ? c : c + plane];
}
static void step(dim3 grid, dim3 block, float **a, float *out) {
#ifdef LAUNCH
    LAUNCH(a[0], out, NX, NY, NZ, 0.4f, 0.11f, 0.09f, 0.12f, 0.08f, 0.13f, 0.07f);
#else
    heat<<<grid, block>>>(a[0], out, NX, NY, NZ, 0.4f, 0.11f, 0.09f, 0.12f, 0.08f, 0.13f, 0.07f);
#endif
}
#else
static const int NX = 512, NY = 256, NZ = 256, ARRAYS = 13, INNER = 2;
__global__ void plainly(float **a, float *out, int nx, int ny, int nz) {
    const float *p = a[0];
    size_t n = (size_t)nx * ny * nz, s = (size_t)nx * ny;
    size_t c = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= n) return;
    int i = c % nx, j = c / nx % ny, k = c / s;
    if (i == 0 || j == 0 || k == 0 || i == nx - 1 || j == ny - 1 || k == nz - 1) return;
    float s0 = a[1][c] * p[c + 1] + a[2][c] * p[c + nx] + a[3][c] * p[c + s]
             + a[5][c] * (p[c + 1 + nx] - p[c + 1 - nx] - p[c - 1 + nx] + p[c - 1 - nx])
             + a[6][c] * (p[c + nx + s] - p[c - nx + s] - p[c + nx - s] + p[c - nx - s])
             + a[7][c] * (p[c + 1 + s] - p[c - 1 + s] - p[c + 1 - s] + p[c - 1 - s])
             + a[8][c] * p[c - 1] + a[9][c] * p[c - nx] + a[10][c] * p[c - s] + a[12][c];
    float ss = (s0 * a[4][c] - p[c]) * a[11][c];
    out[c] = p[c] + 0.8f * ss;
}
static void step(dim3 grid, dim3 block, float **a, float *out) {
#ifdef LAUNCH
    LAUNCH(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], out, NX, NY, NZ);
#else
    jacobi<<<grid, block>>>(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], out, NX, NY, NZ);
#endif
}
#endif

static int run() {
    const size_t n = (size_t)NX * NY * NZ;
    std::vector<float *> arrays(ARRAYS);
    for (int a = 0; a < ARRAYS; a++) {
        must(cudaMalloc(&arrays[a], n * sizeof(float)), "memory");
        fill<<<1024, 256>>>(arrays[a], n, a + 1);
    }
    float *out, *expected, **list;
    must(cudaMalloc(&out, n * sizeof(float)), "memory");
    must(cudaMalloc(&expected, n * sizeof(float)), "memory");
    must(cudaMalloc(&list, ARRAYS * sizeof(float *)), "memory");
    must(cudaMemset(out, 0, n * sizeof(float)), "memory");
    must(cudaMemset(expected, 0, n * sizeof(float)), "memory");
    must(cudaMemcpy(list, arrays.data(), ARRAYS * sizeof(float *), cudaMemcpyHostToDevice), "copy");
    plainly<<<(unsigned)((n + 255) / 256), 256>>>(list, expected, NX, NY, NZ);

    auto blocks = [](int points, int threads, int each) { return (points + threads * each - 1) / (threads * each); };
    dim3 block(BX, BY);
    dim3 grid(blocks(NX - INNER, BX, POINTS_X), blocks(NY - INNER, BY, POINTS_Y),
              POINTS_Z ? blocks(NZ - INNER, 1, POINTS_Z) : 1);
    step(grid, block, arrays.data(), out);
    must(cudaDeviceSynchronize(), "the kernel");
    std::vector<float> a(n), b(n);
    must(cudaMemcpy(a.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost), "copy");
    must(cudaMemcpy(b.data(), expected, n * sizeof(float), cudaMemcpyDeviceToHost), "copy");
    double error = 0;
    for (size_t i = 0; i < n; i++) {
        double e = std::fabs((double)a[i] - b[i]) / std::max(1.0, std::fabs((double)b[i]));
        if (!(e <= error)) error = e;
    }

    // Two buffers in turn, as a time loop has them.
    std::vector<float> times;
    cudaEvent_t from, to;
    must(cudaEventCreate(&from), "event");
    must(cudaEventCreate(&to), "event");
    for (int round = 0; round < WARM + ROUNDS; round++) {
        must(cudaEventRecord(from), "event");
        step(grid, block, arrays.data(), out);
        must(cudaEventRecord(to), "event");
        must(cudaEventSynchronize(to), "the kernel");
        std::swap(arrays[0], out);
        float ms;
        must(cudaEventElapsedTime(&ms, from, to), "event");
        if (round >= WARM) times.push_back(ms * 1e3f);
    }
    std::sort(times.begin(), times.end());
    // The limit: a copy that moves as many bytes.
    std::vector<float> copies;
    const size_t bytes = (size_t)(ARRAYS + 1) * n * sizeof(float) / 2;
    char *x, *y;
    must(cudaMalloc(&x, bytes), "memory");
    must(cudaMalloc(&y, bytes), "memory");
    for (int round = 0; round < WARM + ROUNDS; round++) {
        must(cudaEventRecord(from), "event");
        must(cudaMemcpyAsync(y, x, bytes, cudaMemcpyDeviceToDevice), "copy");
        must(cudaEventRecord(to), "event");
        must(cudaEventSynchronize(to), "copy");
        float ms;
        must(cudaEventElapsedTime(&ms, from, to), "event");
        if (round >= WARM) copies.push_back(ms * 1e3f);
    }
    std::sort(copies.begin(), copies.end());
    printf("%.1f %.1f %.1f %.2e\n", times[times.size() / 2], times[0], copies[copies.size() / 2], error);
    return error < 1e-4 ? 0 : 1;
}

}  // namespace bench

int main() { return bench::run(); }
