// Convolution of an image with pitched rows, the filter in constant memory, a function that checks errors by name.
#include "cuda_runtime.h"
#include "device_launch_parameters.h"
#include <stdio.h>
#include <stdlib.h>

#define RADIUS 2
#define WIDTH (2 * RADIUS + 1)

__constant__ float filter[WIDTH * WIDTH];

__global__ void convolve(const unsigned char *image, size_t pitch, float *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float sum = 0.0f;
    for (int dy = -RADIUS; dy <= RADIUS; dy++)
        for (int dx = -RADIUS; dx <= RADIUS; dx++) {
            int yy = min(max(y + dy, 0), h - 1), xx = min(max(x + dx, 0), w - 1);
            sum += filter[(dy + RADIUS) * WIDTH + dx + RADIUS] * image[yy * pitch + xx];
        }
    out[y * w + x] = sum;
}

int checkError(const char *where)
{
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", where, cudaGetErrorString(status));
        return 1;
    }
    return 0;
}

int main()
{
    int w = 61, h = 47;
    unsigned char *image = (unsigned char *)malloc(w * h);
    for (int i = 0; i < w * h; i++) image[i] = rand() % 256;
    float weights[WIDTH * WIDTH];
    for (int i = 0; i < WIDTH * WIDTH; i++) weights[i] = 1.0f / (WIDTH * WIDTH);
    cudaMemcpyToSymbol(filter, weights, WIDTH * WIDTH * sizeof(float));

    unsigned char *d_image;
    size_t pitch;
    float *d_out;
    cudaMallocPitch((void **)&d_image, &pitch, w, h);
    cudaMemcpy2D(d_image, pitch, image, w, w, h, cudaMemcpyHostToDevice);
    cudaMalloc(&d_out, w * h * sizeof(float));
    dim3 block(16, 8), grid((w + 15) / 16, (h + 7) / 8);
    convolve<<<grid, block>>>(d_image, pitch, d_out, w, h);
    if (checkError("convolve")) return 1;
    float *out = new float[w * h];
    cudaMemcpy(out, d_out, w * h * sizeof(float), cudaMemcpyDeviceToHost);
    printf("%f\n", out[0]);
    delete[] out;
    free(image);
    cudaFree(d_image);
    cudaFree(d_out);
    return 0;
}
