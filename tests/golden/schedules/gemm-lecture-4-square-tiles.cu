#include <stdio.h>
#include <stdlib.h>

constexpr int BX = 32;      // threads of a block along x
constexpr int BY = 32;      // threads of a block along y
constexpr int TILE_L = 32;  // iterations of `l` whose elements are in shared memory at a time

__global__ void __launch_bounds__(1024) gemm_kernel(int n, int m, int k,
                                                    const float *__restrict__ A,
                                                    const float *__restrict__ B, float *C) {
    // what the block's threads read several times
    __shared__ float A_shared[BY][TILE_L];
    __shared__ float B_shared[TILE_L][BX];

    // blocks are numbered along x: a grid has at most 65535 along y
    const unsigned j_blocks = (m - 1) / BX + 1;
    const unsigned block_x = blockIdx.x % j_blocks;
    const unsigned block_y = blockIdx.x / j_blocks;
    const int i_block = (int)block_y * BY;
    const int i_left = n - i_block;
    const int j_block = (int)block_x * BX;
    const int j_left = m - j_block;
    const int thread = (int)threadIdx.y * BX + (int)threadIdx.x;
    const int i_thread = threadIdx.y;
    const int j_thread = threadIdx.x;
    const int i = i_block + i_thread;
    const int j = j_block + j_thread;

    // the element stays in a register while the loop adds to it
    float acc = 0.0f;
    for (int l_block = 0; l_block < k; l_block += TILE_L) {
        // the block copies 32 x 32 elements of A
        {
            const int row = thread / TILE_L;
            const int column = thread % TILE_L;
            A_shared[row][column] = row < n - i_block && column < k - l_block
                                        ? A[(size_t)(i_block + row) * k + l_block + column] : 0.0f;
        }

        // the block copies 32 x 32 elements of B
        {
            const int row = thread / BX;
            const int column = thread % BX;
            B_shared[row][column] = row < k - l_block && column < m - j_block
                                        ? B[(size_t)(l_block + row) * m + j_block + column] : 0.0f;
        }

        // the strip is there before anyone reads it
        __syncthreads();

        // the last strip may be shorter
        const int l_left = k - l_block;
        if (l_left >= TILE_L) {
            for (int l_strip = 0; l_strip < TILE_L; ++l_strip) {
                acc += A_shared[i_thread][l_strip] * B_shared[l_strip][j_thread];
            }
        } else {
            for (int l_strip = 0; l_strip < l_left; ++l_strip) {
                acc += A_shared[i_thread][l_strip] * B_shared[l_strip][j_thread];
            }
        }

        // everyone has read the strip before the next one takes its place
        __syncthreads();
    }
    if (i_thread < i_left && j_thread < j_left) {
        C[(size_t)i * m + j] = acc;
    }
}

cudaError_t gemm_launch(int n, int m, int k, const float *A, const float *B, float *C,
                        cudaStream_t stream) {
    if (n > 0 && m > 0) {
        const dim3 block(BX, BY);
        const dim3 grid((long long)((n - 1) / BY + 1) * ((m - 1) / BX + 1));
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
