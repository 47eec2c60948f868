// gemv.cu: CUDA translation of `gemv` in gemv.c.
//
// Assumes:
// - array arguments do not overlap
//
// Verified:
// - Level: checked. This text was emulated, with every check on, and compared with the C function,
//   by its compiler and by an interpreter at 66 combinations of m, n from {0 to 3, 5, 37, 255, 256,
//   257, 385, 512}.
// - Every path of it was run.
//
// Made for sm_90.

#include <stdio.h>
#include <stdlib.h>

constexpr int BLOCK = 256;  // threads of a block along x

__global__ void gemv_kernel(int n, int m, const float *__restrict__ A, const float *__restrict__ x,
                            float *y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    // the grid is rounded up to whole blocks: threads past the end have no element
    if (i >= n) return;
    float sum = 0.0f;
    for (int j = 0; j < m; ++j) {
        sum += A[(size_t)i * m + j] * x[j];
    }
    y[i] = sum;
}

cudaError_t gemv_launch(int n, int m, const float *A, const float *x, float *y,
                        cudaStream_t stream) {
    if (n > 0) {
        gemv_kernel<<<(n - 1) / BLOCK + 1, BLOCK, 0, stream>>>(n, m, A, x, y);
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

// As gemv in C, on arrays of the host: allocates, copies, launches, waits, copies back and frees.
extern "C" void gemv_host(int n, int m, const float *A, const float *x, float *y) {
    const size_t A_bytes = sizeof(float) * extent(n) * extent(m);
    const size_t x_bytes = sizeof(float) * extent(m);
    const size_t y_bytes = sizeof(float) * extent(n);
    cudaError_t status = cudaSuccess;
    const float *A_device = (const float *)array_on_device(A, A_bytes, true, &status);
    const float *x_device = (const float *)array_on_device(x, x_bytes, true, &status);
    float *y_device = (float *)array_on_device(y, y_bytes, false, &status);
    if (status == cudaSuccess) {
        status = gemv_launch(n, m, A_device, x_device, y_device, 0);
    }
    cudaFree((void *)A_device);
    cudaFree((void *)x_device);
    array_to_host(y, y_device, y_bytes, &status);
    cudaFree(y_device);
    if (status != cudaSuccess) {
        // The C function cannot fail, so that its callers do not ask.
        fprintf(stderr, "gemv_host: %s\n", cudaGetErrorString(status));
        exit(EXIT_FAILURE);
    }
}
