// jacobi5.cu: CUDA translation of `jacobi5` in jacobi5.c.
//
// Assumes:
// - array arguments do not overlap
//
// Verified:
// - Level: checked. This text was emulated, with every check on, and compared with the C function,
//   by its compiler and by an interpreter at 132 combinations of m, n from {0 to 3, 5, 7 to 11, 13,
//   16, 18, 31 to 35, 37, 49, 64, 66}.
// - Every path of it was run.
//
// Made for sm_90.

#include <stdio.h>
#include <stdlib.h>

constexpr int BX = 32;             // threads of a block along x
constexpr int BY = 8;              // threads of a block along y
constexpr int MAX_BLOCKS = 65535;  // blocks of a grid along y or z

__global__ void jacobi5_kernel(int n, int m, const float *__restrict__ u, float *v) {
    const int j = 1 + (int)(blockIdx.x * blockDim.x + threadIdx.x);

    // the grid is rounded up to whole blocks: threads past the end have no element
    if (j < 1 || j >= m - 1) return;

    // a grid has at most 65535 blocks along y: go on in its strides
    for (long long i = 1 + ((long long)blockIdx.y * blockDim.y + threadIdx.y);
         i < n - 1;
         i += (long long)gridDim.y * blockDim.y) {
        v[i * m + j] = 0.25f * (u[(i - 1) * m + j] + u[(i + 1) * m + j] + u[i * m + j - 1] +
                                u[i * m + j + 1]);
    }
}

cudaError_t jacobi5_launch(int n, int m, const float *u, float *v, cudaStream_t stream) {
    if (n > 2 && m > 2) {
        int blocks_y = (n - 3) / BY + 1;
        if (blocks_y > MAX_BLOCKS) {
            blocks_y = MAX_BLOCKS;
        }
        const dim3 block(BX, BY);
        const dim3 grid((m - 3) / BX + 1, blocks_y);
        jacobi5_kernel<<<grid, block, 0, stream>>>(n, m, u, v);
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

// As jacobi5 in C, on arrays of the host: allocates, copies, launches, waits, copies back and
// frees.
extern "C" void jacobi5_host(int n, int m, const float *u, float *v) {
    const size_t u_bytes = sizeof(float) * extent(n) * extent(m);
    const size_t v_bytes = sizeof(float) * extent(n) * extent(m);
    cudaError_t status = cudaSuccess;
    const float *u_device = (const float *)array_on_device(u, u_bytes, true, &status);
    float *v_device = (float *)array_on_device(v, v_bytes, true, &status);
    if (status == cudaSuccess) {
        status = jacobi5_launch(n, m, u_device, v_device, 0);
    }
    cudaFree((void *)u_device);
    array_to_host(v, v_device, v_bytes, &status);
    cudaFree(v_device);
    if (status != cudaSuccess) {
        // The C function cannot fail, so that its callers do not ask.
        fprintf(stderr, "jacobi5_host: %s\n", cudaGetErrorString(status));
        exit(EXIT_FAILURE);
    }
}
