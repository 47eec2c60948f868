#include <stdio.h>
#include <stdlib.h>

constexpr int COPY_X = 32;         // threads of a block along x
constexpr int COPY_Y = 8;          // threads of a block along y
constexpr int MAX_BLOCKS = 65535;  // blocks of a grid along y or z
constexpr int BX = 32;             // threads of a block along x
constexpr int BY = 32;             // threads of a block along y
// iterations of `l` whose elements are in shared memory at a time
constexpr int TILE_L = 32;

// The element of a matrix whose rows begin `pitch` elements apart.
template <class T>
__device__ __forceinline__ T &element_at(T *matrix, size_t pitch, size_t row, size_t column) {
    return matrix[row * pitch + column];
}

__global__ void gemm_A_padded(int n, int k, const float *__restrict__ A, int n_padded,
                              float *__restrict__ A_padded, int A_padded_pitch) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;

    // a grid has at most 65535 blocks along y: go on in its strides
    for (long long row = (long long)blockIdx.y * blockDim.y + threadIdx.y;
         row < n_padded;
         row += (long long)gridDim.y * blockDim.y) {
        element_at(A_padded, A_padded_pitch, row, column) = (int)row < n && column < k
                                                                ? A[row * k + column] : 0.0f;
    }
}

__global__ void gemm_B_padded(int m, int k, const float *__restrict__ B, int k_padded,
                              float *__restrict__ B_padded, int B_padded_pitch) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;

    // a grid has at most 65535 blocks along y: go on in its strides
    for (long long row = (long long)blockIdx.y * blockDim.y + threadIdx.y;
         row < k_padded;
         row += (long long)gridDim.y * blockDim.y) {
        element_at(B_padded, B_padded_pitch, row, column) = (int)row < k && column < m
                                                                ? B[row * m + column] : 0.0f;
    }
}

__global__ void __launch_bounds__(1024) gemm_C_padded(int n_padded, int m_padded, int k_padded,
                                                      const float *__restrict__ A_padded,
                                                      const float *__restrict__ B_padded,
                                                      float *__restrict__ C_padded,
                                                      int A_padded_pitch, int B_padded_pitch,
                                                      int C_padded_pitch) {
    // what the block's threads read several times
    __shared__ float A_padded_shared[BY][TILE_L];
    __shared__ float B_padded_shared[TILE_L][BX];

    // blocks are numbered along x: a grid has at most 65535 along y
    const unsigned j_blocks = (m_padded - 1) / BX + 1;
    const unsigned block_x = blockIdx.x % j_blocks;
    const unsigned block_y = blockIdx.x / j_blocks;
    const int i_block = (int)block_y * BY;
    const int j_block = (int)block_x * BX;
    const int thread = (int)threadIdx.y * BX + (int)threadIdx.x;
    const int i_thread = threadIdx.y;
    const int j_thread = threadIdx.x;
    const int i = i_block + i_thread;
    const int j = j_block + j_thread;

    // the element stays in a register while the loop adds to it
    float acc = 0.0f;
    for (int l_block = 0; l_block < k_padded; l_block += TILE_L) {
        // the block copies 32 x 32 elements of A_padded
        {
            const int row = thread / TILE_L;
            const int column = thread % TILE_L;
            A_padded_shared[row][column] = element_at(A_padded, A_padded_pitch, i_block + row,
                                                      l_block + column);
        }

        // the block copies 32 x 32 elements of B_padded
        {
            const int row = thread / BX;
            const int column = thread % BX;
            B_padded_shared[row][column] = element_at(B_padded, B_padded_pitch, l_block + row,
                                                      j_block + column);
        }

        // the strip is there before anyone reads it
        __syncthreads();
        for (int l_strip = 0; l_strip < TILE_L; ++l_strip) {
            acc += A_padded_shared[i_thread][l_strip] * B_padded_shared[l_strip][j_thread];
        }

        // everyone has read the strip before the next one takes its place
        __syncthreads();
    }
    element_at(C_padded, C_padded_pitch, i, j) = acc;
}

__global__ void gemm_C(int n, int m, float *C, const float *__restrict__ C_padded,
                       int C_padded_pitch) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;

    // the grid is rounded up to whole blocks: threads past the end have no element
    if (column >= m) return;

    // a grid has at most 65535 blocks along y: go on in its strides
    for (long long row = (long long)blockIdx.y * blockDim.y + threadIdx.y;
         row < n;
         row += (long long)gridDim.y * blockDim.y) {
        C[row * m + column] = element_at(C_padded, C_padded_pitch, row, column);
    }
}

size_t gemm_workspace(int n, int m, int k) {
    return ((unsigned long long)((n + 31) / 32 * 32) * (((k + 31) / 32 * 32 + 127) / 128 * 128) *
            4 + 255) / 256 * 256 +
           ((unsigned long long)((k + 31) / 32 * 32) * (((m + 31) / 32 * 32 + 127) / 128 * 128) *
            4 + 255) / 256 * 256 +
           (unsigned long long)((n + 31) / 32 * 32) * (((m + 31) / 32 * 32 + 127) / 128 * 128) * 4;
}

cudaError_t gemm_launch(int n, int m, int k, const float *A, const float *B, float *C,
                        void *workspace, cudaStream_t stream) {
    // whole tiles of 32
    const int n_padded = (n + 31) / 32 * 32;

    // whole tiles of 32
    const int m_padded = (m + 31) / 32 * 32;

    // whole tiles of 32
    const int k_padded = (k + 31) / 32 * 32;

    // rows of `A_padded` begin at multiples of 128 elements
    const int A_padded_pitch = (k_padded + 127) / 128 * 128;

    // rows of `B_padded` begin at multiples of 128 elements
    const int B_padded_pitch = (m_padded + 127) / 128 * 128;

    // rows of `C_padded` begin at multiples of 128 elements
    const int C_padded_pitch = (m_padded + 127) / 128 * 128;

    // `A` in whole tiles
    float *__restrict__ A_padded = (float *)workspace;
    const unsigned long long B_padded_at = ((unsigned long long)n_padded * A_padded_pitch * 4 +
                                            255) / 256 * 256;

    // `B` in whole tiles
    float *__restrict__ B_padded = reinterpret_cast<float *>((signed char *)workspace +
                                                             B_padded_at);
    const unsigned long long C_padded_at =
        B_padded_at + ((unsigned long long)k_padded * B_padded_pitch * 4 + 255) / 256 * 256;

    // `C` in whole tiles
    float *__restrict__ C_padded = reinterpret_cast<float *>((signed char *)workspace +
                                                             C_padded_at);
    if (n_padded > 0 && k_padded > 0) {
        int blocks_y = (n_padded - 1) / COPY_Y + 1;
        if (blocks_y > MAX_BLOCKS) {
            blocks_y = MAX_BLOCKS;
        }
        const dim3 block(COPY_X, COPY_Y);
        const dim3 grid((k_padded - 1) / COPY_X + 1, blocks_y);
        gemm_A_padded<<<grid, block, 0, stream>>>(n, k, A, n_padded, A_padded, A_padded_pitch);
    }
    if (k_padded > 0 && m_padded > 0) {
        int blocks_y = (k_padded - 1) / COPY_Y + 1;
        if (blocks_y > MAX_BLOCKS) {
            blocks_y = MAX_BLOCKS;
        }
        const dim3 block2(COPY_X, COPY_Y);
        const dim3 grid2((m_padded - 1) / COPY_X + 1, blocks_y);
        gemm_B_padded<<<grid2, block2, 0, stream>>>(m, k, B, k_padded, B_padded, B_padded_pitch);
    }
    if (n_padded > 0 && m_padded > 0) {
        const dim3 block3(BX, BY);
        const dim3 grid3((long long)((n_padded - 1) / BY + 1) * ((m_padded - 1) / BX + 1));
        gemm_C_padded<<<grid3, block3, 0, stream>>>(n_padded, m_padded, k_padded, A_padded,
                                                    B_padded, C_padded, A_padded_pitch,
                                                    B_padded_pitch, C_padded_pitch);
    }
    if (n > 0 && m > 0) {
        int blocks_y = (n - 1) / COPY_Y + 1;
        if (blocks_y > MAX_BLOCKS) {
            blocks_y = MAX_BLOCKS;
        }
        const dim3 block4(COPY_X, COPY_Y);
        const dim3 grid4((m - 1) / COPY_X + 1, blocks_y);
        gemm_C<<<grid4, block4, 0, stream>>>(n, m, C, C_padded, C_padded_pitch);
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
    const size_t workspace_bytes = gemm_workspace(n, m, k);
    cudaError_t status = cudaSuccess;
    const float *A_device = (const float *)array_on_device(A, A_bytes, true, &status);
    const float *B_device = (const float *)array_on_device(B, B_bytes, true, &status);
    float *C_device = (float *)array_on_device(C, C_bytes, true, &status);
    void *workspace = on_device(workspace_bytes, &status);
    if (status == cudaSuccess) {
        status = gemm_launch(n, m, k, A_device, B_device, C_device, workspace, 0);
    }
    cudaFree((void *)A_device);
    cudaFree((void *)B_device);
    array_to_host(C, C_device, C_bytes, &status);
    cudaFree(C_device);
    cudaFree(workspace);
    if (status != cudaSuccess) {
        // The C function cannot fail, so that its callers do not ask.
        fprintf(stderr, "gemm_host: %s\n", cudaGetErrorString(status));
        exit(EXIT_FAILURE);
    }
}
