constexpr int BX = 128;            // threads of a block along x
constexpr int MAX_BLOCKS = 65535;  // blocks of a grid along y or z

__constant__ float filter_constant[5][5];

__global__ void conv5_kernel(int h, int w, const float *__restrict__ image, float *out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;

    // the grid is rounded up to whole blocks: threads past the end have no element
    if (x >= w + 4) return;

    // a grid has at most 65535 blocks along y: go on in its strides
    for (long long y = (long long)blockIdx.y * blockDim.y + threadIdx.y;
         y < h + 4;
         y += (long long)gridDim.y * blockDim.y) {
        out[y * (w + 4) + x] = 0.0f;
        for (int dy = 0; dy < 5; ++dy) {
            for (int dx = 0; dx < 5; ++dx) {
                out[y * (w + 4) + x] += filter_constant[4 - dy][4 - dx] *
                                        image[(size_t)((int)y + dy) * (w + 8) + x + dx];
            }
        }
    }
}

cudaError_t conv5_launch(int h, int w, const float *image, const float *filter, float *out,
                         cudaStream_t stream) {
    if (h > -4 && w > -4) {
        int blocks_y = h + 4;
        if (blocks_y > MAX_BLOCKS) {
            blocks_y = MAX_BLOCKS;
        }
        cudaMemcpyToSymbolAsync(filter_constant, filter, sizeof(filter_constant), 0,
                                cudaMemcpyDeviceToDevice, stream);
        const dim3 block(BX);
        const dim3 grid((w + 3) / BX + 1, blocks_y);
        conv5_kernel<<<grid, block, 0, stream>>>(h, w, image, out);
    }
    return cudaGetLastError();
}
