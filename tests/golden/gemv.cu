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
