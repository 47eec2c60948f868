#include <stdio.h>
#include <stdlib.h>

constexpr int BX = 128;            // threads of a block along x
constexpr int MAX_BLOCKS = 65535;  // blocks of a grid along y or z

__constant__ float filter_constant[5][5];

__global__ void conv5_kernel(int h, int w, const float *__restrict__ image, float *out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;

    // the grid is rounded up to whole blocks: threads past the end have no element
    if (x >= w + 4) return;

    // a grid has at most 65535 blocks along y: go on in its strides
    for (long long y = (long long)blockIdx.y * blockDim.y + threadIdx.y;
         y < h + 4;
         y += (long long)gridDim.y * blockDim.y) {
        out[y * (w + 4) + x] = 0.0f;
        for (int dy = 0; dy < 5; ++dy) {
            for (int dx = 0; dx < 5; ++dx) {
                out[y * (w + 4) + x] += filter_constant[4 - dy][4 - dx] *
                                        image[(size_t)((int)y + dy) * (w + 8) + x + dx];
            }
        }
    }
}

cudaError_t conv5_launch(int h, int w, const float *image, const float *filter, float *out,
                         cudaStream_t stream) {
    if (h > -4 && w > -4) {
        int blocks_y = h + 4;
        if (blocks_y > MAX_BLOCKS) {
            blocks_y = MAX_BLOCKS;
        }
        cudaMemcpyToSymbolAsync(filter_constant, filter, sizeof(filter_constant), 0,
                                cudaMemcpyDeviceToDevice, stream);
        const dim3 block(BX);
        const dim3 grid((w + 3) / BX + 1, blocks_y);
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
