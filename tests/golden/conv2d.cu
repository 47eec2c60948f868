// conv2d.cu: CUDA translation of `conv2d` in conv2d.c.
//
// Assumes:
// - array arguments do not overlap
//
// Verified:
// - Level: checked. This text was emulated, with every check on, and compared with the C function,
//   by its compiler and by an interpreter at 23 combinations of fh, fw, h, w from {0 to 3, 5, 7, 8,
//   9, 13, 16, 31, 32, 33, 37, 49, 64}.
// - Every path of it was run.
//
// Made for sm_90.

#include <stdio.h>
#include <stdlib.h>

constexpr int BX = 32;             // threads of a block along x
constexpr int BY = 8;              // threads of a block along y
constexpr int MAX_BLOCKS = 65535;  // blocks of a grid along y or z

__global__ void conv2d_kernel(int h, int w, int fh, int fw, const float *__restrict__ image,
                              const float *__restrict__ filter, float *out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;

    // the grid is rounded up to whole blocks: threads past the end have no element
    if (x >= w + fw - 1) return;

    // a grid has at most 65535 blocks along y: go on in its strides
    for (long long y = (long long)blockIdx.y * blockDim.y + threadIdx.y;
         y < h + fh - 1;
         y += (long long)gridDim.y * blockDim.y) {
        float sum = 0.0f;
        for (int dy = 0; dy < fh; ++dy) {
            for (int dx = 0; dx < fw; ++dx) {
                sum += filter[(size_t)(fh - 1 - dy) * fw + fw - 1 - dx] *
                       image[(size_t)((int)y + dy) * (w + 2 * (fw - 1)) + x + dx];
            }
        }
        out[y * (w + fw - 1) + x] = sum;
    }
}

cudaError_t conv2d_launch(int h, int w, int fh, int fw, const float *image, const float *filter,
                          float *out, cudaStream_t stream) {
    if (h + fh - 1 > 0 && w + fw - 1 > 0) {
        int blocks_y = (h + fh - 2) / BY + 1;
        if (blocks_y > MAX_BLOCKS) {
            blocks_y = MAX_BLOCKS;
        }
        const dim3 block(BX, BY);
        const dim3 grid((w + fw - 2) / BX + 1, blocks_y);
        conv2d_kernel<<<grid, block, 0, stream>>>(h, w, fh, fw, image, filter, out);
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

// As conv2d in C, on arrays of the host: allocates, copies, launches, waits, copies back and frees.
extern "C" void conv2d_host(int h, int w, int fh, int fw, const float *image, const float *filter,
                            float *out) {
    const size_t image_bytes = sizeof(float) * extent(h + 2ll * (fh - 1)) * extent(w +
                                                                                   2ll * (fw - 1));
    const size_t filter_bytes = sizeof(float) * extent(fh) * extent(fw);
    const size_t out_bytes = sizeof(float) * extent(h + fh - 1) * extent(w + fw - 1);
    cudaError_t status = cudaSuccess;
    const float *image_device = (const float *)array_on_device(image, image_bytes, true, &status);
    const float *filter_device = (const float *)array_on_device(filter, filter_bytes, true,
                                                                &status);
    float *out_device = (float *)array_on_device(out, out_bytes, false, &status);
    if (status == cudaSuccess) {
        status = conv2d_launch(h, w, fh, fw, image_device, filter_device, out_device, 0);
    }
    cudaFree((void *)image_device);
    cudaFree((void *)filter_device);
    array_to_host(out, out_device, out_bytes, &status);
    cudaFree(out_device);
    if (status != cudaSuccess) {
        // The C function cannot fail, so that its callers do not ask.
        fprintf(stderr, "conv2d_host: %s\n", cudaGetErrorString(status));
        exit(EXIT_FAILURE);
    }
}
