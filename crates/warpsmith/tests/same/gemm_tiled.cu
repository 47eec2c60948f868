// same-as: references.c:gemm
#define T 16
__global__ void gemm_tiled(int n, int m, int k, const float *a, const float *b, float *c) {
    __shared__ float as[T][T], bs[T][T + 1];
    int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
    float sum = 0;
    for (int p = 0; p < k; p += T) {
        as[threadIdx.y][threadIdx.x] = row < n && p + threadIdx.x < k ? a[row * k + p + threadIdx.x] : 0;
        bs[threadIdx.y][threadIdx.x] = col < m && p + threadIdx.y < k ? b[(p + threadIdx.y) * m + col] : 0;
        __syncthreads();
        for (int q = 0; q < T; q++) sum += as[threadIdx.y][q] * bs[q][threadIdx.x];
        __syncthreads();
    }
    if (row < n && col < m) c[row * m + col] = sum;
}
void gemm(int n, int m, int k, const float *a, const float *b, float *c) {
    dim3 block(T, T), grid((m + T - 1) / T, (n + T - 1) / T);
    gemm_tiled<<<grid, block>>>(n, m, k, a, b, c);
}
// fault: p + threadIdx.x < k ? => p + threadIdx.x <= k ?
// fault: col < m && p + threadIdx.y < k ? => col < m ?
// fault: q < T; q++ => q < T - 1; q++
// fault: p < k; p += T => p + T <= k; p += T
// fault: row < n && col < m) c => row < n) c
// fault: c[row * m + col] = sum => c[row * n + col] = sum
// fault: a[row * k + p + threadIdx.x] => a[row * m + p + threadIdx.x]
// fault: * bs[q][threadIdx.x]; => * bs[threadIdx.x][q];
// fault: float sum = 0; => float sum = 0.001f;
// fault: (n + T - 1) / T); => (n + T - 2) / T);
// fault: sum += as[threadIdx.y][q] => sum += as[threadIdx.x][q]
// fault: __syncthreads();\n        for =>         for
