// same-as: references.c:dgemm_nt
// The next tiles are loaded while the present ones are multiplied.
#define T 8
__global__ void dgemm_double_buffer(int n, int m, int k, const double *a, const double *b, double *c) {
    __shared__ double as[2][T][T + 1], bs[2][T][T + 1];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * T + ty, col = blockIdx.x * T + tx, brow = blockIdx.x * T + ty;
    int tiles = (k + T - 1) / T;
    double sum = 0;
    as[0][ty][tx] = row < n && tx < k ? a[row * k + tx] : 0.0;
    bs[0][ty][tx] = brow < m && tx < k ? b[brow * k + tx] : 0.0;
    __syncthreads();
    for (int t = 0; t < tiles; t++) {
        int now = t % 2, next = 1 - now, p = (t + 1) * T + tx;
        if (t + 1 < tiles) {
            as[next][ty][tx] = row < n && p < k ? a[row * k + p] : 0.0;
            bs[next][ty][tx] = brow < m && p < k ? b[brow * k + p] : 0.0;
        }
        for (int q = 0; q < T; q++) sum += as[now][ty][q] * bs[now][tx][q];
        __syncthreads();
    }
    if (row < n && col < m) c[row * m + col] = sum;
}
void dgemm_nt(int n, int m, int k, const double *a, const double *b, double *c) {
    dgemm_double_buffer<<<dim3((m + T - 1) / T, (n + T - 1) / T), dim3(T, T)>>>(n, m, k, a, b, c);
}
// right: #define T 8 => #define T 16
// right: sum += as[now][ty][q] * bs[now][tx][q] => sum = fma(as[now][ty][q], bs[now][tx][q], sum)
// fault: next = 1 - now => next = now
// fault: now = t % 2 => now = 0
// fault: __syncthreads();\n    } => }
// fault: if (t + 1 < tiles) => if (t + 2 < tiles)
// fault: p = (t + 1) * T + tx => p = t * T + tx
// fault: row < n && p < k => row < n
// fault: brow < m && tx < k ? => brow < m ?
// fault: brow = blockIdx.x * T + ty => brow = blockIdx.x * T + tx
// fault: double sum = 0; => float sum = 0;
// fault: bs[now][tx][q] => bs[now][q][tx]
// fault: tiles = (k + T - 1) / T => tiles = k / T
// fault: c[row * m + col] => c[row * k + col]
