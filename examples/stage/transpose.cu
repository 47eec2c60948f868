// Matrix transpose: a block reads rows and writes rows, and hands over through a tile. One element more a row keeps the
// elements of a column in different banks of shared memory.
#define TILE 32

__global__ void transpose(const float *in, float *out, int width, int height) {
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    __syncthreads();
    int column = blockIdx.y * TILE + threadIdx.x;
    int row = blockIdx.x * TILE + threadIdx.y;
    if (row < width && column < height) out[row * height + column] = __opt__(in[column * width + row]);
}

#include <cstdio>
#include <vector>

int main() {
    const int width = 517, height = 301;
    const size_t size = (size_t)width * height;
    std::vector<float> in(size), out(size);
    for (size_t i = 0; i < size; i++) in[i] = (float)i;
    float *d_in, *d_out;
    cudaMalloc(&d_in, size * sizeof(float));
    cudaMalloc(&d_out, size * sizeof(float));
    cudaMemcpy(d_in, in.data(), size * sizeof(float), cudaMemcpyHostToDevice);
    dim3 block(TILE, TILE), grid((width + TILE - 1) / TILE, (height + TILE - 1) / TILE);
    transpose<<<grid, block>>>(d_in, d_out, width, height);
    if (cudaMemcpy(out.data(), d_out, size * sizeof(float), cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
    int wrong = 0;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) wrong += out[(size_t)x * height + y] != in[(size_t)y * width + x];
    printf("%s: %d of %zu elements differ\n", wrong ? "failed" : "passed", wrong, size);
    return wrong != 0;
}
