// same-as: references.c:gemv
template <int WARPS>
__global__ void gemv_warps(int rows, int cols, const float *a, const float *x, float *y) {
    int row = blockIdx.x * WARPS + threadIdx.y;
    if (row >= rows) return;
    float sum = 0;
    for (int c = threadIdx.x; c < cols; c += 32) sum += a[row * cols + c] * x[c];
#pragma unroll
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (threadIdx.x == 0) y[row] = sum;
}
void gemv(int rows, int cols, const float *a, const float *x, float *y) {
    gemv_warps<4><<<(rows + 3) / 4, dim3(32, 4)>>>(rows, cols, a, x, y);
}
// fault: c < cols; c += 32 => c < cols; c += 33
// fault: * x[c]; => * x[row];
// fault: int d = 16; => int d = 4;
// fault: (rows + 3) / 4, => (rows + 2) / 4,
// fault: if (threadIdx.x == 0) y => if (threadIdx.x == 1) y
// fault: row >= rows) => row > rows)
// fault: a[row * cols + c] => a[row * rows + c]
