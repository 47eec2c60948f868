// Transposes in tiles of TILE_DIM rows by blocks of BLOCK_ROWS.
#include <cstdio>
#include <cuda_runtime.h>

static const int TILE_DIM = 32, BLOCK_ROWS = 8;

__device__ __host__ inline size_t flat(int x, int y, int ld) { return (size_t)y * ld + x; }

__global__ void transposeTiles(float *odata, const float *idata, int width, int height)
{
    __shared__ float tile[TILE_DIM][TILE_DIM + 1];
    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = idata[flat(x, y + j, width)];
    __syncthreads();
    int xo = blockIdx.y * TILE_DIM + threadIdx.x;
    int yo = blockIdx.x * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (xo < height && yo + j < width)
            odata[flat(xo, yo + j, height)] = __opt__(idata[flat(yo + j, xo, width)]);
}

int main()
{
    int w = 100, h = 77;
    float *in, *out;
    cudaMallocManaged(&in, w * h * sizeof(float));
    cudaMallocManaged(&out, w * h * sizeof(float));
    for (int i = 0; i < w * h; i++) in[i] = i;
    dim3 block(TILE_DIM, BLOCK_ROWS, 1), grid((w + TILE_DIM - 1) / TILE_DIM, (h + TILE_DIM - 1) / TILE_DIM, 1);
    transposeTiles<<<grid, block>>>(out, in, w, h);
    cudaDeviceSynchronize();
    int wrong = 0;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) wrong += out[x * h + y] != in[y * w + x];
    std::printf("%d wrong\n", wrong);
    return wrong != 0;
}
