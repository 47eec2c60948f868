// Transposes a matrix with blocks of fewer rows than their tile, and reports the bandwidth it reached.
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

#define TILE_DIM   32
#define BLOCK_ROWS 8
#define NUM_REPS   20

#define CUDA_CHECK(call)                                                                      \
    do {                                                                                      \
        cudaError_t status_ = (call);                                                         \
        if (status_ != cudaSuccess) {                                                         \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_));  \
            exit(EXIT_FAILURE);                                                               \
        }                                                                                     \
    } while (0)

__global__ void transposeTile(float *odata, const float *idata, int width, int height)
{
    __shared__ float tile[TILE_DIM][TILE_DIM + 1];

    int xIndex = blockIdx.x * TILE_DIM + threadIdx.x;
    int yIndex = blockIdx.y * TILE_DIM + threadIdx.y;

    for (int i = 0; i < TILE_DIM; i += BLOCK_ROWS) {
        if (xIndex < width && yIndex + i < height)
            tile[threadIdx.y + i][threadIdx.x] = idata[(yIndex + i) * width + xIndex];
    }
    __syncthreads();

    int xOut = blockIdx.y * TILE_DIM + threadIdx.x;
    int yOut = blockIdx.x * TILE_DIM + threadIdx.y;

    for (int i = 0; i < TILE_DIM; i += BLOCK_ROWS) {
        if (xOut < height && yOut + i < width)
            odata[(yOut + i) * height + xOut] = __opt__(idata[xOut * width + yOut + i]);
    }
}

static bool matches(const float *odata, const float *idata, int width, int height)
{
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            if (odata[(size_t)x * height + y] != idata[(size_t)y * width + x]) return false;
    return true;
}

int main(int argc, char **argv)
{
    const int width  = argc > 1 ? atoi(argv[1]) : 8190;
    const int height = argc > 2 ? atoi(argv[2]) : 4099;
    const size_t mem_size = sizeof(float) * width * height;

    float *h_idata = (float *)malloc(mem_size);
    float *h_odata = (float *)malloc(mem_size);
    for (size_t i = 0; i < (size_t)width * height; ++i) h_idata[i] = (float)(i % 16777213);

    float *d_idata, *d_odata;
    CUDA_CHECK(cudaMalloc((void **)&d_idata, mem_size));
    CUDA_CHECK(cudaMalloc((void **)&d_odata, mem_size));
    CUDA_CHECK(cudaMemcpy(d_idata, h_idata, mem_size, cudaMemcpyHostToDevice));

    dim3 threads(TILE_DIM, BLOCK_ROWS);
    dim3 grid((width + TILE_DIM - 1) / TILE_DIM, (height + TILE_DIM - 1) / TILE_DIM);

    cudaEvent_t start, stop;
    CUDA_CHECK(cudaEventCreate(&start));
    CUDA_CHECK(cudaEventCreate(&stop));
    transposeTile<<<grid, threads>>>(d_odata, d_idata, width, height);  // warm-up
    CUDA_CHECK(cudaEventRecord(start));
    for (int i = 0; i < NUM_REPS; i++) transposeTile<<<grid, threads>>>(d_odata, d_idata, width, height);
    CUDA_CHECK(cudaEventRecord(stop));
    CUDA_CHECK(cudaEventSynchronize(stop));
    float ms = 0.0f;
    CUDA_CHECK(cudaEventElapsedTime(&ms, start, stop));

    CUDA_CHECK(cudaMemcpy(h_odata, d_odata, mem_size, cudaMemcpyDeviceToHost));
    bool ok = matches(h_odata, h_idata, width, height);
    printf("%s %.1f us\n", ok ? "passed" : "FAILED", 1e3f * ms / NUM_REPS);

    free(h_idata);
    free(h_odata);
    CUDA_CHECK(cudaFree(d_idata));
    CUDA_CHECK(cudaFree(d_odata));
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
