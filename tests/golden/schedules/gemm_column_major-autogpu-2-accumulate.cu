constexpr int BX = 128;            // threads of a block along x
constexpr int MAX_BLOCKS = 65535;  // blocks of a grid along y or z

__global__ void gemm_column_major_kernel(int n, int m, int k, const float *__restrict__ A,
                                         const float *__restrict__ B, float *C) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    // the grid is rounded up to whole blocks: threads past the end have no element
    if (i >= n) return;

    // a grid has at most 65535 blocks along y: go on in its strides
    for (long long j = (long long)blockIdx.y * blockDim.y + threadIdx.y;
         j < m;
         j += (long long)gridDim.y * blockDim.y) {
        // the element stays in a register while the loop adds to it
        float acc = 0.0f;
        for (int l = 0; l < k; ++l) {
            acc += A[(size_t)l * n + i] * B[j * k + l];
        }
        C[j * n + i] = acc;
    }
}

cudaError_t gemm_column_major_launch(int n, int m, int k, const float *A, const float *B, float *C,
                                     cudaStream_t stream) {
    if (m > 0 && n > 0) {
        int blocks_y = m;
        if (blocks_y > MAX_BLOCKS) {
            blocks_y = MAX_BLOCKS;
        }
        const dim3 block(BX);
        const dim3 grid((n - 1) / BX + 1, blocks_y);
        gemm_column_major_kernel<<<grid, block, 0, stream>>>(n, m, k, A, B, C);
    }
    return cudaGetLastError();
}
