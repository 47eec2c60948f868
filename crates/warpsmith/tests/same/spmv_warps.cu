// same-as: references.c:spmv
// A warp a row.
__global__ void spmv_warps(int rows, const int *start, const int *col, const float *val, const float *x, float *y) {
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    float sum = 0;
    for (int e = start[r] + lane; e < start[r + 1]; e += 32) sum += val[e] * x[col[e]];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (lane == 0) y[r] = sum;
}
void spmv(int rows, const int *start, const int *col, const float *val, const float *x, float *y) {
    spmv_warps<<<(rows + 3) / 4, 128>>>(rows, start, col, val, x, y);
}
// right: (rows + 3) / 4, 128 => (rows + 1) / 2, 64
// right: d = 16; d > 0; d /= 2 => d = 1; d < 32; d *= 2
// fault: e < start[r + 1] => e <= start[r + 1]
// fault: start[r] + lane => start[r] + lane + 1
// fault: d = 16; d > 0 => d = 8; d > 0
// fault: (rows + 3) / 4 => (rows + 2) / 4
// fault: x[col[e]] => x[e]
// fault: val[e] * => val[col[e]] *
// fault: e += 32 => e += 64
// fault: if (lane == 0) y[r] = sum => if (lane == 1) y[r] = sum
// fault: start[r] + lane => start[0] + lane
// fault: if (lane == 0) y[r] = sum => if (lane == 0 && sum != 0) y[r] = sum
