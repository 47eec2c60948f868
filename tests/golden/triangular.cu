// triangular.cu: CUDA translation of `triangular` in triangular.c.
//
// Assumes:
// - array arguments do not overlap
//
// Verified:
// - Level: checked. This text was emulated, with every check on, and compared with the C function,
//   by its compiler and by an interpreter at 56 values of n from {0 to 50, 255, 256, 257, 385,
//   512}.
// - Every path of it was run.
//
// Made for sm_90.

constexpr int BLOCK = 256;  // threads of a block along x

__global__ void triangular_kernel(int n, const float *__restrict__ L, const float *__restrict__ x,
                                  float *y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    // the grid is rounded up to whole blocks: threads past the end have no element
    if (i >= n) return;
    float sum = 0.0f;
    for (int j = 0; j <= i; ++j) {
        sum += L[(size_t)i * n + j] * x[j];
    }
    y[i] = sum;
}

cudaError_t triangular_launch(int n, const float *L, const float *x, float *y,
                              cudaStream_t stream) {
    if (n > 0) {
        triangular_kernel<<<(n - 1) / BLOCK + 1, BLOCK, 0, stream>>>(n, L, x, y);
    }
    return cudaGetLastError();
}
