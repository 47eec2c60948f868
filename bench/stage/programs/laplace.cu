// Jacobi's iteration for Laplace's equation: two buffers that exchange their pointers, fixed edges, a copy to the halo of the tile.
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

typedef float real;

#define BLOCK_X 32
#define BLOCK_Y 16
#define PITCH   (BLOCK_X + 2)

__device__ __forceinline__ int idx(int i, int j, int nx) { return j * nx + i; }

__global__ void jacobi(const real *__restrict__ u, real *__restrict__ v, int nx, int ny)
{
    __shared__ real tile[(BLOCK_Y + 2) * PITCH];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int j = blockIdx.y * blockDim.y + threadIdx.y;
    const int s = (threadIdx.y + 1) * PITCH + threadIdx.x + 1;
    if (i < nx && j < ny) {
        tile[s] = u[idx(i, j, nx)];
        if (i > 0 && i < nx - 1 && j > 0 && j < ny - 1) {
            __insert();
        }
    }
    __syncthreads();
    if (i > 0 && i < nx - 1 && j > 0 && j < ny - 1) {
        v[idx(i, j, nx)] = 0.25f * (__opt__(tile[s - 1], u[idx(i - 1, j, nx)]) + __opt__(tile[s + 1], u[idx(i + 1, j, nx)])
                                      + __opt__(tile[s - PITCH], u[idx(i, j - 1, nx)])
                                      + __opt__(tile[s + PITCH], u[idx(i, j + 1, nx)]));
    }
}

int main()
{
    const int nx = 2050, ny = 1031;
    const int steps = 100;
    std::vector<real> h((size_t)nx * ny, 0.0f);
    for (int i = 0; i < nx; i++) h[i] = 1.0f + (i % 13);
    for (int j = 0; j < ny; j++) h[(size_t)j * nx] = 0.5f * (j % 7);

    real *u, *v;
    const size_t bytes = h.size() * sizeof(real);
    cudaMalloc(&u, bytes);
    cudaMalloc(&v, bytes);
    cudaMemcpy(u, h.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(v, h.data(), bytes, cudaMemcpyHostToDevice);

    const dim3 block(BLOCK_X, BLOCK_Y);
    const dim3 grid((nx + block.x - 1) / block.x, (ny + block.y - 1) / block.y);
    cudaEvent_t start, stop;
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    cudaEventRecord(start);
    for (int step = 0; step < steps; step++) {
        jacobi<<<grid, block>>>(u, v, nx, ny);
        std::swap(u, v);
    }
    cudaEventRecord(stop);
    cudaEventSynchronize(stop);
    float ms = 0;
    cudaEventElapsedTime(&ms, start, stop);
    std::vector<real> result(h.size());
    if (cudaMemcpy(result.data(), u, bytes, cudaMemcpyDeviceToHost) != cudaSuccess) return 2;

    std::vector<real> next = h;
    for (int step = 0; step < steps; step++) {
        for (int j = 1; j < ny - 1; j++)
            for (int i = 1; i < nx - 1; i++) {
                const size_t c = (size_t)j * nx + i;
                next[c] = 0.25f * (h[c - 1] + h[c + 1] + h[c - nx] + h[c + nx]);
            }
        std::swap(h, next);
    }
    double worst = 0;
    for (size_t c = 0; c < h.size(); c++) worst = std::fmax(worst, std::fabs(h[c] - result[c]));
    std::printf("%s %.1f us\n", worst < 1e-5 ? "passed" : "FAILED", 1e3f * ms / steps);
    return worst < 1e-5 ? 0 : 1;
}
