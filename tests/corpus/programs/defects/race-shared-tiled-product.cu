// A tiled product whose second barrier was forgotten: the next tile is loaded while others still read this one.
// expect: race-shared line=18 array=As
// expect: race-shared line=19 array=Bs
// expect: status=1
#include <cstdio>
#include <cstdlib>
#include <vector>
#define TILE 16
#define CHECK(x) do { cudaError_t e = (x); if (e != cudaSuccess) { fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e)); exit(1); } } while (0)

__global__ void multiply(const float *A, const float *B, float *C, int n)
{
    __shared__ float As[TILE][TILE], Bs[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int t = 0; t < (n + TILE - 1) / TILE; t++) {
        int a = t * TILE + threadIdx.x, b = t * TILE + threadIdx.y;
        As[threadIdx.y][threadIdx.x] = row < n && a < n ? A[row * n + a] : 0.0f;
        Bs[threadIdx.y][threadIdx.x] = b < n && col < n ? B[b * n + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; k++) sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
    }
    if (row < n && col < n) C[row * n + col] = sum;
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 60;
    const size_t bytes = (size_t)n * n * sizeof(float);
    std::vector<float> a(n * n), b(n * n), c(n * n);
    for (int i = 0; i < n * n; i++) { a[i] = i % 7; b[i] = i % 5 - 2; }
    float *dA, *dB, *dC;
    CHECK(cudaMalloc(&dA, bytes));
    CHECK(cudaMalloc(&dB, bytes));
    CHECK(cudaMalloc(&dC, bytes));
    CHECK(cudaMemcpy(dA, a.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dB, b.data(), bytes, cudaMemcpyHostToDevice));
    dim3 block(TILE, TILE), grid((n + TILE - 1) / TILE, (n + TILE - 1) / TILE);
    multiply<<<grid, block>>>(dA, dB, dC, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(c.data(), dC, bytes, cudaMemcpyDeviceToHost));
    double worst = 0;
    for (int i = 0; i < n; i++) {
        double want = 0;
        for (int k = 0; k < n; k++) want += a[i * n + k] * b[k * n + i];
        worst = std::max(worst, std::abs(want - c[i * n + i]));
    }
    printf("worst %g\n", worst);
    cudaFree(dA); cudaFree(dB); cudaFree(dC);
    return worst < 1e-3 ? 0 : 1;
}
