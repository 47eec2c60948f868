// same-as: references.c:largest
// A warp a row: each lane keeps its three largest, then lanes are merged.
__device__ void keep(int v, int &a, int &b, int &c) {
    if (v > a) { c = b; b = a; a = v; }
    else if (v > b) { c = b; b = v; }
    else if (v > c) c = v;
}
__global__ void largest_warps(int rows, int cols, const int *x, int *best) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    const int least = -1000000000;
    int a = least, b = least, c = least;
    for (int k = lane; k < cols; k += 32) keep(x[row * cols + k], a, b, c);
    for (int d = 16; d > 0; d /= 2) {
        int p = __shfl_down_sync(0xffffffffu, a, d), q = __shfl_down_sync(0xffffffffu, b, d);
        int r = __shfl_down_sync(0xffffffffu, c, d);
        if (lane < d) {
            keep(p, a, b, c);
            keep(q, a, b, c);
            keep(r, a, b, c);
        }
    }
    if (lane == 0) {
        best[row * 3] = a;
        best[row * 3 + 1] = b;
        best[row * 3 + 2] = c;
    }
}
void top(int rows, int cols, const int *x, int *best) { largest_warps<<<(rows + 1) / 2, 64>>>(rows, cols, x, best); }
// fault: c = b; b = a; a = v; => b = a; a = v;
// fault: else if (v > b) => else if (v >= a)
// fault: keep(r, a, b, c);\n => \n
// fault: k += 32) keep => k += 33) keep
// fault: (rows + 1) / 2, 64 => rows / 2, 64
// fault: v > c) c = v; => v < c) c = v;
// right: v > c) c = v; => v >= c) c = v;
