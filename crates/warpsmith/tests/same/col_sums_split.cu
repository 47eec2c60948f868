// same-as: references.c:col_sums
// Blocks of 32 columns, 8 threads a column.
__global__ void col_sums_split(int rows, int cols, const float *x, float *sums) {
    __shared__ float part[8][33];
    int c = blockIdx.x * 32 + threadIdx.x;
    float s = 0;
    if (c < cols)
        for (int r = threadIdx.y; r < rows; r += 8) s += x[r * cols + c];
    part[threadIdx.y][threadIdx.x] = s;
    __syncthreads();
    for (int d = 4; d > 0; d /= 2) {
        if (threadIdx.y < d) part[threadIdx.y][threadIdx.x] += part[threadIdx.y + d][threadIdx.x];
        __syncthreads();
    }
    if (threadIdx.y == 0 && c < cols) sums[c] = part[0][threadIdx.x];
}
void col_sums(int rows, int cols, const float *x, float *sums) {
    col_sums_split<<<(cols + 31) / 32, dim3(32, 8)>>>(rows, cols, x, sums);
}
// right: part[8][33] => part[8][32]
// right: for (int r = threadIdx.y; r < rows; r += 8) s += => for (int r = rows - 1 - (int)threadIdx.y; r >= 0; r -= 8) s +=
// fault: r < rows; r += 8 => r < rows - 7; r += 8
// fault: r += 8) s => r += 9) s
// fault: d = 4; d > 0 => d = 4; d > 1
// fault: __syncthreads();\n    } => }
// fault: threadIdx.y == 0 && c < cols => threadIdx.y == 0
// fault: part[0][threadIdx.x] => part[threadIdx.x % 8][0]
// fault: (cols + 31) / 32 => cols / 32
// fault: x[r * cols + c] => x[c * rows + r]
// fault: part[threadIdx.y + d] => part[threadIdx.y + 1]
// fault: __syncthreads();\n    for => for
