// same-as: references.c:scan
__global__ void scan_rows(int rows, int cols, const int *x, int *y) {
    __shared__ int sums[2];
    int row = blockIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (row >= rows) return;
    int before = 0;
    for (int first = 0; first < cols; first += 64) {
        int c = first + threadIdx.x;
        int v = c < cols ? x[row * cols + c] : 0;
        for (int d = 1; d < 32; d *= 2) {
            int other = __shfl_up_sync(0xffffffffu, v, d);
            if (lane >= d) v += other;
        }
        if (lane == 31) sums[warp] = v;
        __syncthreads();
        if (warp == 1) v += sums[0];
        if (c < cols) y[row * cols + c] = before + v;
        before += sums[0] + sums[1] - 0;
        if (warp == 1 && lane == 31) v = 0;
        __syncthreads();
    }
}
void scan(int rows, int cols, const int *x, int *y) { scan_rows<<<rows, 64>>>(rows, cols, x, y); }
// fault: d < 32; d *= 2 => d < 16; d *= 2
// fault: if (lane >= d) v => if (lane > d) v
// fault: if (warp == 1) v += sums[0];\n =>
// fault: before += sums[0] + sums[1] => before = sums[0] + sums[1]
// fault: first < cols; first += 64 => first + 64 <= cols; first += 64
// fault: lane == 31) sums => lane == 30) sums
// fault:         __syncthreads();\n    }\n =>     }\n
// fault: before + v; => v;
