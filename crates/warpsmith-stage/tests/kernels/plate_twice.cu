// Two Jacobi sweeps a launch on rows of a plate whose rim is held at its values.
#include <cstdio>
#include <cstdlib>
#include <cmath>
#include <vector>
#define BW 32
#define BH 8
#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { fprintf(stderr, "%s\n", cudaGetErrorString(e)); exit(1); } } while (0)

__global__ void jacobi_twice(const float *__restrict__ u, float *half, float *__restrict__ v, int rows, int cols)
{
    __shared__ float first[BH][BW];
    __shared__ float second[BH][BW];
    const int c = blockIdx.x * (BW - 2) + threadIdx.x;
    const int r = blockIdx.y * (BH - 2) + threadIdx.y;
    const bool inside = r < rows && c < cols;
    const bool rim = r == 0 || c == 0 || r == rows - 1 || c == cols - 1;

    if (inside) first[threadIdx.y][threadIdx.x] = u[r * cols + c];
    __syncthreads();
    if (inside) {
        float w = __opt__(u[r * cols + c]);
        if (!rim)
            w = 0.25f * (__opt__(u[r * cols + c - 1]) + __opt__(u[r * cols + c + 1])
                       + __opt__(u[(r - 1) * cols + c]) + __opt__(u[(r + 1) * cols + c]));
        half[r * cols + c] = w;
        second[threadIdx.y][threadIdx.x] = w;
    }
    __syncthreads();
    if (inside && rim) v[r * cols + c] = __opt__(half[r * cols + c]);
    if (inside && !rim && threadIdx.x >= 1 && threadIdx.x < BW - 1 && threadIdx.y >= 1 && threadIdx.y < BH - 1)
        v[r * cols + c] = 0.25f * (__opt__(half[r * cols + c - 1]) + __opt__(half[r * cols + c + 1])
                                 + __opt__(half[(r - 1) * cols + c]) + __opt__(half[(r + 1) * cols + c]));
}

static void sweep(const std::vector<float> &a, std::vector<float> &b, int rows, int cols)
{
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c++) {
            int p = r * cols + c;
            bool rim = r == 0 || c == 0 || r == rows - 1 || c == cols - 1;
            b[p] = rim ? a[p] : 0.25f * (a[p - 1] + a[p + 1] + a[p - cols] + a[p + cols]);
        }
}

int main(int argc, char **argv)
{
    int rows = argc > 1 ? atoi(argv[1]) : 101, cols = argc > 2 ? atoi(argv[2]) : 203, steps = 4;
    size_t bytes = (size_t)rows * cols * sizeof(float);
    std::vector<float> h(rows * cols), g(rows * cols), e(rows * cols);
    for (size_t i = 0; i < h.size(); i++) h[i] = (float)(i * 7 % 101) / 101.0f;
    float *a, *b, *m;
    CHECK(cudaMalloc(&a, bytes));
    CHECK(cudaMalloc(&b, bytes));
    CHECK(cudaMalloc(&m, bytes));
    CHECK(cudaMemcpy(a, h.data(), bytes, cudaMemcpyHostToDevice));
    dim3 block(BW, BH);
    dim3 grid((cols - 2 + BW - 3) / (BW - 2), (rows - 2 + BH - 3) / (BH - 2));
    for (int t = 0; t < steps; t += 2) {
        jacobi_twice<<<grid, block>>>(a, m, b, rows, cols);
        std::swap(a, b);
    }
    CHECK(cudaMemcpy(g.data(), a, bytes, cudaMemcpyDeviceToHost));
    for (int t = 0; t < steps; t++) {
        sweep(h, e, rows, cols);
        h.swap(e);
    }
    int wrong = 0;
    for (size_t i = 0; i < h.size(); i++) wrong += fabsf(h[i] - g[i]) > 1e-5f;
    printf("%s\n", wrong ? "FAILED" : "passed");
    cudaFree(a); cudaFree(b); cudaFree(m);
    return wrong != 0;
}
