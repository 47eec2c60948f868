// A box filter of an image with clamped edges, the plan left to the tool (`--auto`).
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

const int kRadius = 3;

__device__ int clampi(int v, int lo, int hi) { return v < lo ? lo : v > hi ? hi : v; }

__global__ void boxFilter(const int *src, int *dst, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    int sum = 0;
    for (int dy = -kRadius; dy <= kRadius; ++dy)
        for (int dx = -kRadius; dx <= kRadius; ++dx)
            sum += src[clampi(y + dy, 0, height - 1) * width + clampi(x + dx, 0, width - 1)];
    dst[y * width + x] = sum;
}

static int clamp_host(int v, int lo, int hi) { return v < lo ? lo : v > hi ? hi : v; }

int main(int argc, char **argv)
{
    const int width = argc > 1 ? atoi(argv[1]) : 4096, height = argc > 2 ? atoi(argv[2]) : 2160;
    const size_t count = (size_t)width * height;
    int *image = new int[count], *result = new int[count];
    for (size_t i = 0; i < count; i++) image[i] = (int)((i * 1103515245u + 12345u) >> 16 & 255);
    int *d_src = NULL, *d_dst = NULL;
    cudaMalloc((void **)&d_src, count * sizeof(int));
    cudaMalloc((void **)&d_dst, count * sizeof(int));
    cudaMemcpy(d_src, image, count * sizeof(int), cudaMemcpyHostToDevice);
    dim3 block(16, 16);
    dim3 grid((width + block.x - 1) / block.x, (height + block.y - 1) / block.y);
    cudaEvent_t start, stop;
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    boxFilter<<<grid, block>>>(d_src, d_dst, width, height);
    cudaEventRecord(start);
    for (int i = 0; i < 20; i++) boxFilter<<<grid, block>>>(d_src, d_dst, width, height);
    cudaEventRecord(stop);
    cudaEventSynchronize(stop);
    float ms = 0;
    cudaEventElapsedTime(&ms, start, stop);
    if (cudaMemcpy(result, d_dst, count * sizeof(int), cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
    long wrong = 0;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            int sum = 0;
            for (int dy = -kRadius; dy <= kRadius; ++dy)
                for (int dx = -kRadius; dx <= kRadius; ++dx)
                    sum += image[(size_t)clamp_host(y + dy, 0, height - 1) * width + clamp_host(x + dx, 0, width - 1)];
            wrong += sum != result[(size_t)y * width + x];
        }
    printf("%s %.1f us\n", wrong ? "FAILED" : "passed", 1e3f * ms / 20);
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
