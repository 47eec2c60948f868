#include <stdio.h>
#include <stdlib.h>

constexpr int BX = 32;             // threads of a block along x
constexpr int BY = 32;             // threads of a block along y
constexpr int MAX_BLOCKS = 65535;  // blocks of a grid along any axis

__global__ void __launch_bounds__(1024) gemm_kernel(int n, int m, int k,
                                                    const float *__restrict__ A,
                                                    const float *__restrict__ B, float *C) {
    // in strides of the grid along y
    for (long long i = (long long)blockIdx.y * blockDim.y + threadIdx.y;
         i < n;
         i += (long long)gridDim.y * blockDim.y) {
        // in strides of the grid along x
        for (long long j = (long long)blockIdx.x * blockDim.x + threadIdx.x;
             j < m;
             j += (long long)gridDim.x * blockDim.x) {
            // the element stays in a register while the loop adds to it
            float acc = 0.0f;
            for (int l = 0; l < k; ++l) {
                acc += A[i * k + l] * B[(size_t)l * m + j];
            }
            C[i * m + j] = acc;
        }
    }
}

cudaError_t gemm_launch(int n, int m, int k, const float *A, const float *B, float *C,
                        cudaStream_t stream) {
    if (n > 0 && m > 0) {
        int blocks_y = (n - 1) / BY + 1;
        if (blocks_y > MAX_BLOCKS) {
            blocks_y = MAX_BLOCKS;
        }
        int blocks_x = (m - 1) / BX + 1;
        if (blocks_x > MAX_BLOCKS) {
            blocks_x = MAX_BLOCKS;
        }
        const dim3 block(BX, BY);
        const dim3 grid(blocks_x, blocks_y);
        gemm_kernel<<<grid, block, 0, stream>>>(n, m, k, A, B, C);
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

// As gemm in C, on arrays of the host: allocates, copies, launches, waits, copies back and frees.
extern "C" void gemm_host(int n, int m, int k, const float *A, const float *B, float *C) {
    const size_t A_bytes = sizeof(float) * extent(n) * extent(k);
    const size_t B_bytes = sizeof(float) * extent(k) * extent(m);
    const size_t C_bytes = sizeof(float) * extent(n) * extent(m);
    cudaError_t status = cudaSuccess;
    const float *A_device = (const float *)array_on_device(A, A_bytes, true, &status);
    const float *B_device = (const float *)array_on_device(B, B_bytes, true, &status);
    float *C_device = (float *)array_on_device(C, C_bytes, true, &status);
    if (status == cudaSuccess) {
        status = gemm_launch(n, m, k, A_device, B_device, C_device, 0);
    }
    cudaFree((void *)A_device);
    cudaFree((void *)B_device);
    array_to_host(C, C_device, C_bytes, &status);
    cudaFree(C_device);
    if (status != cudaSuccess) {
        // The C function cannot fail, so that its callers do not ask.
        fprintf(stderr, "gemm_host: %s\n", cudaGetErrorString(status));
        exit(EXIT_FAILURE);
    }
}
