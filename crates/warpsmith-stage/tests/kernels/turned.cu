// A sketch of a transpose whose block has fewer rows than its tile.
#define DIM 32
#define STEP 8
__global__ void plain(const double *src, double *dst, int rows, int cols) {
    for (int k = 0; k < DIM; k += STEP) {
        int c = blockIdx.x * DIM + threadIdx.x, r = blockIdx.y * DIM + threadIdx.y + k;
        if (c < cols && r < rows) dst[c * rows + r] = src[r * cols + c];
    }
}
__global__ void fast(const double *src, double *dst, int rows, int cols) {
    __shared__ double t[DIM][DIM + 1];
    int c = blockIdx.x * DIM + threadIdx.x, r = blockIdx.y * DIM + threadIdx.y;
    for (int k = 0; k < DIM; k += STEP)
        if (c < cols && r + k < rows) t[threadIdx.y + k][threadIdx.x] = src[(r + k) * cols + c];
    __syncthreads();
    int c2 = blockIdx.__choose__(x, y) * DIM + threadIdx.__choose__(x, y);
    int r2 = blockIdx.__choose__(x, y) * DIM + threadIdx.__choose__(x, y);
    for (int k = 0; k < DIM; k += STEP)
        if (c2 < rows && r2 + k < cols) dst[__choose__((r2 + k) * rows + c2, c2 * rows + r2 + k)] = t[__choose__(threadIdx.x, threadIdx.y + k)][__choose__(threadIdx.x, threadIdx.y + k)];
}
