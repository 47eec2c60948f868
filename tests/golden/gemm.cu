// gemm.cu: CUDA translation of `gemm` in gemm.c.
//
// Assumes:
// - array arguments do not overlap
//
// Verified:
// - Level: checked. This text was emulated, with every check on, and compared with the C function,
//   by its compiler and by an interpreter at 96 combinations of k, m, n from {0 to 3, 5, 7, 8, 9,
//   13, 16, 31, 32, 33, 37, 49, 64}.
// - Every path of it was run.
//
// Made for sm_90.

constexpr int BX = 32;             // threads of a block along x
constexpr int BY = 8;              // threads of a block along y
constexpr int MAX_BLOCKS = 65535;  // blocks of a grid along y or z

__global__ void gemm_kernel(int n, int m, int k, const float *__restrict__ A,
                            const float *__restrict__ B, float *C) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;

    // the grid is rounded up to whole blocks: threads past the end have no element
    if (j >= m) return;

    // a grid has at most 65535 blocks along y: go on in its strides
    for (long long i = (long long)blockIdx.y * blockDim.y + threadIdx.y;
         i < n;
         i += (long long)gridDim.y * blockDim.y) {
        C[i * m + j] = 0.0f;
        for (int l = 0; l < k; ++l) {
            C[i * m + j] += A[i * k + l] * B[(size_t)l * m + j];
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
        const dim3 block(BX, BY);
        const dim3 grid((m - 1) / BX + 1, blocks_y);
        gemm_kernel<<<grid, block, 0, stream>>>(n, m, k, A, B, C);
    }
    return cudaGetLastError();
}
