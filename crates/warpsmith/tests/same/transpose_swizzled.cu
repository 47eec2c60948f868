// same-as: references.c:transpose
// No padding: columns of the tile are exchanged so that they lie in different banks.
__global__ void transpose_swizzled(int rows, int cols, const float *__restrict__ in, float *__restrict__ out) {
    __shared__ float tile[32 * 32];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32;
    for (int r = threadIdx.y; r < 32; r += 8)
        if (x < cols && y + r < rows) tile[r * 32 + (threadIdx.x ^ r)] = in[(y + r) * cols + x];
    __syncthreads();
    int to = blockIdx.y * 32 + threadIdx.x, from = blockIdx.x * 32;
    for (int r = threadIdx.y; r < 32; r += 8)
        if (to < rows && from + r < cols) out[(from + r) * rows + to] = tile[threadIdx.x * 32 + (r ^ threadIdx.x)];
}
void transpose(int rows, int cols, const float *in, float *out) {
    dim3 grid((cols + 31) / 32, (rows + 31) / 32), block(32, 8);
    transpose_swizzled<<<grid, block>>>(rows, cols, in, out);
}
// fault: (r ^ threadIdx.x)]; => r];
// fault: y + r < rows) => y + r < rows - 1)
// fault: r += 8)\n        if (to => r += 16)\n        if (to
// fault: (from + r) * rows + to => (from + r) * cols + to
// fault:     __syncthreads();\n =>
// fault: (cols + 31) / 32, (rows => (cols + 16) / 32, (rows
// fault: threadIdx.x ^ r)] = => threadIdx.x ^ (r & 15))] =
// right: threadIdx.x ^ r)] = => r ^ threadIdx.x)] =
