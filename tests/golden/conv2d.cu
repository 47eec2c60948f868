// conv2d.cu: CUDA translation of `conv2d` in conv2d.c.
//
// Assumes:
// - array arguments do not overlap
//
// Verified:
// - Level: checked. This text was emulated, with every check on, and compared with the C function,
//   by its compiler and by an interpreter at 24 combinations of fh, fw, h, w from {0 to 3, 5, 7, 8,
//   9, 13, 16, 31, 32, 33, 37, 49, 64, 65536, 196605}.
// - Every path of it was run.
//
// Made for sm_90.

constexpr int BX = 32;             // threads of a block along x
constexpr int BY = 8;              // threads of a block along y
constexpr int MAX_BLOCKS = 65535;  // blocks of a grid along y or z

__global__ void conv2d_kernel(int h, int w, int fh, int fw, const float *__restrict__ image,
                              const float *__restrict__ filter, float *out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;

    // the grid is rounded up to whole blocks: threads past the end have no element
    if (x >= w + fw - 1) return;

    // a grid has at most 65535 blocks along y: go on in its strides
    for (long long y = (long long)blockIdx.y * blockDim.y + threadIdx.y;
         y < h + fh - 1;
         y += (long long)gridDim.y * blockDim.y) {
        float sum = 0.0f;
        for (int dy = 0; dy < fh; ++dy) {
            for (int dx = 0; dx < fw; ++dx) {
                sum += filter[(size_t)(fh - 1 - dy) * fw + fw - 1 - dx] *
                       image[(size_t)((int)y + dy) * (w + 2 * (fw - 1)) + x + dx];
            }
        }
        out[y * (w + fw - 1) + x] = sum;
    }
}

cudaError_t conv2d_launch(int h, int w, int fh, int fw, const float *image, const float *filter,
                          float *out, cudaStream_t stream) {
    if (h + fh - 1 > 0 && w + fw - 1 > 0) {
        int blocks_y = (h + fh - 2) / BY + 1;
        if (blocks_y > MAX_BLOCKS) {
            blocks_y = MAX_BLOCKS;
        }
        const dim3 block(BX, BY);
        const dim3 grid((w + fw - 2) / BX + 1, blocks_y);
        conv2d_kernel<<<grid, block, 0, stream>>>(h, w, fh, fw, image, filter, out);
    }
    return cudaGetLastError();
}
