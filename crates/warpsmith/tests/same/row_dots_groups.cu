// same-as: references.cu:row_dots
// Eight threads a row.
__global__ void row_dots_groups(int rows, int cols, const float *a, const float *b, float *out) {
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 8, part = threadIdx.x % 8;
    float s0 = 0, s1 = 0;
    if (r < rows) {
        int c = part;
        for (; c + 8 < cols; c += 16) {
            s0 += a[r * cols + c] * b[r * cols + c];
            s1 += a[r * cols + c + 8] * b[r * cols + c + 8];
        }
        if (c < cols) s0 += a[r * cols + c] * b[r * cols + c];
    }
    float sum = s0 + s1;
    for (int d = 4; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d, 8);
    if (r < rows && part == 0) out[r] = sum;
}
void row_dots(int rows, int cols, const float *a, const float *b, float *out) {
    row_dots_groups<<<(rows + 15) / 16, 128>>>(rows, cols, a, b, out);
}
// right: (rows + 15) / 16, 128 => (rows + 3) / 4, 32
// right: __shfl_down_sync(0xffffffff, sum, d, 8) => __shfl_xor_sync(0xffffffff, sum, d)
// fault: c + 8 < cols => c + 16 < cols
// fault: if (c < cols) s0 => if (c < cols - 1) s0
// fault: d = 4; d > 0 => d = 2; d > 0
// fault: sum, d, 8) => sum, d, 4)
// fault: s0 + s1; => s0;
// fault: part == 0) => part == 7)
// fault: (rows + 15) / 16 => rows / 16
// fault: b[r * cols + c + 8]; => b[r * cols + c];
// fault: c += 16 => c += 8
// fault: if (r < rows) { => {
