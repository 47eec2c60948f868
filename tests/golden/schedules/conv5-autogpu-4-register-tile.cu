#include <stdio.h>
#include <stdlib.h>

constexpr int BX = 32;      // threads of a block along x
constexpr int BY = 8;       // threads of a block along y
constexpr int TY = 8;       // iterations of `y` for a thread
constexpr int TILE_Y = 64;  // iterations of `y` for a block

__constant__ float filter_constant[5][5];

__global__ void conv5_kernel(int h, int w, const float *__restrict__ image, float *out) {
    // what the block's threads read several times
    __shared__ float image_shared[TILE_Y + 4][BX + 4];

    // blocks are numbered along x: a grid has at most 65535 along y
    const unsigned x_blocks = (w + 3) / BX + 1;
    const unsigned block_x = blockIdx.x % x_blocks;
    const unsigned block_y = blockIdx.x / x_blocks;
    const int y_block = (int)block_y * TILE_Y;
    const int y_left = h + 4 - y_block;
    const int x_block = (int)block_x * BX;
    const int x_left = w + 4 - x_block;
    const int thread = (int)threadIdx.y * BX + (int)threadIdx.x;
    const int y_thread = threadIdx.y;
    const int x_thread = threadIdx.x;

    // the block copies 68 x 36 elements of image
    for (int element = thread; element < (TILE_Y + 4) * (BX + 4); element += BX * BY) {
        const int row = element / (BX + 4);
        const int column = element % (BX + 4);
        image_shared[row][column] = row < h - y_block + 8 && column < w - x_block + 8
                                        ? image[(size_t)(y_block + row) * (w + 8) +
                                                x_block + column] : 0.0f;
    }

    // everything is there before anyone reads it
    __syncthreads();
    const int x = x_block + x_thread;

    // the element stays in a register while the loop adds to it
    float acc[TY];
    #pragma unroll
    for (int ty = 0; ty < TY; ++ty) {
        acc[ty] = 0.0f;
    }
    for (int dy = 0; dy < 5; ++dy) {
        for (int dx = 0; dx < 5; ++dx) {
            #pragma unroll
            for (int ty = 0; ty < TY; ++ty) {
                acc[ty] += filter_constant[4 - dy][4 - dx] *
                           image_shared[y_thread + ty * BY + dy][x_thread + dx];
            }
        }
    }
    #pragma unroll
    for (int ty = 0; ty < TY; ++ty) {
        const int y = y_block + y_thread + ty * BY;
        if (y_thread + ty * BY < y_left && x_thread < x_left) {
            out[(size_t)y * (w + 4) + x] = acc[ty];
        }
    }
}

cudaError_t conv5_launch(int h, int w, const float *image, const float *filter, float *out,
                         cudaStream_t stream) {
    if (h > -4 && w > -4) {
        cudaMemcpyToSymbolAsync(filter_constant, filter, sizeof(filter_constant), 0,
                                cudaMemcpyDeviceToDevice, stream);
        const dim3 block(BX, BY);
        const dim3 grid((long long)((h + 3) / TILE_Y + 1) * ((w + 3) / BX + 1));
        conv5_kernel<<<grid, block, 0, stream>>>(h, w, image, out);
    }
    return cudaGetLastError();
}

// Device memory; the first error stays in `status`.
static void *on_device(size_t bytes, cudaError_t *status) {
    void *device = nullptr;
    if (*status == cudaSuccess && bytes > 0) *status = cudaMalloc(&device, bytes);
    return device;
}

// Device memory for an array of the host, with its contents where they are read. A pointer that is
// null stays so, and no other becomes null.
static void *array_on_device(const void *host, size_t bytes, bool read, cudaError_t *status) {
    if (host == nullptr) return nullptr;
    void *device = on_device(bytes > 0 ? bytes : 1, status);
    if (*status == cudaSuccess && bytes > 0 && read) {
        *status = cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice);
    }
    return device;
}

// As many elements as a size says: none where it is negative.
static size_t extent(long long size) {
    return size > 0 ? size : 0;
}

// What the device has written, where nothing failed before.
static void array_to_host(void *host, const void *device, size_t bytes, cudaError_t *status) {
    if (*status == cudaSuccess && device != nullptr) {
        *status = cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost);
    }
}

// As conv5 in C, on arrays of the host: allocates, copies, launches, waits, copies back and frees.
extern "C" void conv5_host(int h, int w, const float *image, const float *filter, float *out) {
    const size_t image_bytes = sizeof(float) * extent(h + 8) * extent(w + 8);
    const size_t filter_bytes = sizeof(float) * 5 * 5;
    const size_t out_bytes = sizeof(float) * extent(h + 4) * extent(w + 4);
    cudaError_t status = cudaSuccess;
    const float *image_device = (const float *)array_on_device(image, image_bytes, true, &status);
    const float *filter_device = (const float *)array_on_device(filter, filter_bytes, true,
                                                                &status);
    float *out_device = (float *)array_on_device(out, out_bytes, true, &status);
    if (status == cudaSuccess) {
        status = conv5_launch(h, w, image_device, filter_device, out_device, 0);
    }
    cudaFree((void *)image_device);
    cudaFree((void *)filter_device);
    array_to_host(out, out_device, out_bytes, &status);
    cudaFree(out_device);
    if (status != cudaSuccess) {
        // The C function cannot fail, so that its callers do not ask.
        fprintf(stderr, "conv5_host: %s\n", cudaGetErrorString(status));
        exit(EXIT_FAILURE);
    }
}
