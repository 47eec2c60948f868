/*
 * Separable convolution: one pass along the rows, one along the columns.
 * Build: nvcc -o separable separable.cu
 */
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                   \
    do {                                                                              \
        cudaError_t status_ = (call);                                                 \
        if (status_ != cudaSuccess) {                                                 \
            std::fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__,                    \
                         cudaGetErrorString(status_));                                \
            std::exit(EXIT_FAILURE);                                                  \
        }                                                                             \
    } while (0)

constexpr int RADIUS = 4;
#define ROWS_BLOCKDIM_X 64
#define ROWS_BLOCKDIM_Y 4
#define IMAD(a, b, c) ((a) * (b) + (c))

__constant__ float c_kernel[2 * RADIUS + 1];

static inline int iDivUp(int a, int b) { return (a + b - 1) / b; }

// One output a thread; elements beyond the ends count as zero.
__global__ void rows_pass(float *d_dst, const float *__restrict__ d_src, int width, int height, int pitch)
{
    __shared__ float s_data[ROWS_BLOCKDIM_Y][ROWS_BLOCKDIM_X];
    const int x = IMAD(blockIdx.x, ROWS_BLOCKDIM_X, threadIdx.x);
    const int y = IMAD(blockIdx.y, ROWS_BLOCKDIM_Y, threadIdx.y);
    if (x < width && y < height)
        s_data[threadIdx.y][threadIdx.x] = d_src[IMAD(y, pitch, x)];
    __syncthreads();
    if (x >= width || y >= height) return;
    float sum = 0.f;
#pragma unroll
    for (int j = -RADIUS; j <= RADIUS; ++j) {
        const int at = x + j;
        if (at >= 0 && at < width) sum += c_kernel[RADIUS - j] * __opt__(d_src[IMAD(y, pitch, at)]);
    }
    d_dst[IMAD(y, pitch, x)] = sum;
}

// The same along the columns, which stays as it is.
__global__ void columns_pass(float *d_dst, const float *__restrict__ d_src, int width, int height, int pitch)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0.f;
    for (int j = -RADIUS; j <= RADIUS; ++j)
        if (y + j >= 0 && y + j < height) sum += c_kernel[RADIUS - j] * d_src[(y + j) * pitch + x];
    d_dst[y * pitch + x] = sum;
}

int main(int argc, char **argv)
{
    const int width = 1000, height = 70, pitch = 1024;
    float *h = new float[pitch * height], *d_src, *d_mid, *d_dst;
    for (int i = 0; i < pitch * height; i++) h[i] = (float)std::rand() / RAND_MAX;
    float k[2 * RADIUS + 1];
    for (int i = 0; i <= 2 * RADIUS; i++) k[i] = 1.f / (1 + std::abs(i - RADIUS));
    CHECK(cudaMemcpyToSymbol(c_kernel, k, sizeof(k)));
    CHECK(cudaMalloc(&d_src, pitch * height * sizeof(float)));
    CHECK(cudaMalloc(&d_mid, pitch * height * sizeof(float)));
    CHECK(cudaMalloc(&d_dst, pitch * height * sizeof(float)));
    CHECK(cudaMemcpy(d_src, h, pitch * height * sizeof(float), cudaMemcpyHostToDevice));
    dim3 threads(ROWS_BLOCKDIM_X, ROWS_BLOCKDIM_Y);
    dim3 blocks(iDivUp(width, ROWS_BLOCKDIM_X), iDivUp(height, ROWS_BLOCKDIM_Y));
    rows_pass<<<blocks, threads>>>(d_mid, d_src, width, height, pitch);
    columns_pass<<<blocks, threads>>>(d_dst, d_mid, width, height, pitch);
    CHECK(cudaGetLastError());
    float *out = new float[pitch * height];
    CHECK(cudaMemcpy(out, d_dst, pitch * height * sizeof(float), cudaMemcpyDeviceToHost));
    std::printf("%f\n", out[0]);
    return 0;
}
