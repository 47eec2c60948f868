// nbody.cu: CUDA translation of `nbody` in nbody.c.
//
// Assumes:
// - array arguments do not overlap
//
// Verified:
// - Level: checked. This text was emulated, with every check on, and compared with the C function,
//   by its compiler and by an interpreter at 54 values of n from {0 to 50, 255, 256, 257}.
// - Every path of it was run.
//
// Made for sm_90.

#include <stdio.h>
#include <stdlib.h>

constexpr int BLOCK = 256;  // threads of a block along x

__global__ void nbody_kernel(int n, float softening, const float *__restrict__ x,
                             const float *__restrict__ y, const float *__restrict__ z,
                             const float *__restrict__ mass, float *ax, float *ay, float *az) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    // the grid is rounded up to whole blocks: threads past the end have no element
    if (i >= n) return;
    float sx = 0.0f;
    float sy = 0.0f;
    float sz = 0.0f;
    for (int j = 0; j < n; ++j) {
        const float dx = x[j] - x[i];
        const float dy = y[j] - y[i];
        const float dz = z[j] - z[i];
        const float r2 = dx * dx + dy * dy + dz * dz + softening;
        const float r = 1.0f / sqrtf(r2);
        const float s = mass[j] * r * r * r;
        sx += s * dx;
        sy += s * dy;
        sz += s * dz;
    }
    ax[i] = sx;
    ay[i] = sy;
    az[i] = sz;
}

cudaError_t nbody_launch(int n, float softening, const float *x, const float *y, const float *z,
                         const float *mass, float *ax, float *ay, float *az, cudaStream_t stream) {
    if (n > 0) {
        nbody_kernel<<<(n - 1) / BLOCK + 1, BLOCK, 0, stream>>>(n, softening, x, y, z, mass, ax, ay,
                                                                az);
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

// As nbody in C, on arrays of the host: allocates, copies, launches, waits, copies back and frees.
extern "C" void nbody_host(int n, float softening, const float *x, const float *y, const float *z,
                           const float *mass, float *ax, float *ay, float *az) {
    const size_t x_bytes = sizeof(float) * extent(n);
    const size_t y_bytes = sizeof(float) * extent(n);
    const size_t z_bytes = sizeof(float) * extent(n);
    const size_t mass_bytes = sizeof(float) * extent(n);
    const size_t ax_bytes = sizeof(float) * extent(n);
    const size_t ay_bytes = sizeof(float) * extent(n);
    const size_t az_bytes = sizeof(float) * extent(n);
    cudaError_t status = cudaSuccess;
    const float *x_device = (const float *)array_on_device(x, x_bytes, true, &status);
    const float *y_device = (const float *)array_on_device(y, y_bytes, true, &status);
    const float *z_device = (const float *)array_on_device(z, z_bytes, true, &status);
    const float *mass_device = (const float *)array_on_device(mass, mass_bytes, true, &status);
    float *ax_device = (float *)array_on_device(ax, ax_bytes, false, &status);
    float *ay_device = (float *)array_on_device(ay, ay_bytes, false, &status);
    float *az_device = (float *)array_on_device(az, az_bytes, false, &status);
    if (status == cudaSuccess) {
        status = nbody_launch(n, softening, x_device, y_device, z_device, mass_device, ax_device,
                              ay_device, az_device, 0);
    }
    cudaFree((void *)x_device);
    cudaFree((void *)y_device);
    cudaFree((void *)z_device);
    cudaFree((void *)mass_device);
    array_to_host(ax, ax_device, ax_bytes, &status);
    cudaFree(ax_device);
    array_to_host(ay, ay_device, ay_bytes, &status);
    cudaFree(ay_device);
    array_to_host(az, az_device, az_bytes, &status);
    cudaFree(az_device);
    if (status != cudaSuccess) {
        // The C function cannot fail, so that its callers do not ask.
        fprintf(stderr, "nbody_host: %s\n", cudaGetErrorString(status));
        exit(EXIT_FAILURE);
    }
}
