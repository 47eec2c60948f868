// same-as: references.c:gemm
// Four rows a thread in registers, the rows of b read once for them.
__global__ void gemm_columns(int n, int m, int k, const float *a, const float *b, float *c) {
    int col = blockIdx.x * 32 + threadIdx.x, row = (blockIdx.y * 4 + threadIdx.y) * 4;
    if (col >= m) return;
    float sum[4] = {0, 0, 0, 0};
    for (int p = 0; p < k; p++) {
        float v = b[p * m + col];
#pragma unroll
        for (int r = 0; r < 4; r++)
            if (row + r < n) sum[r] += a[(row + r) * k + p] * v;
    }
    for (int r = 0; r < 4; r++)
        if (row + r < n) c[(row + r) * m + col] = sum[r];
}
void gemm(int rows, int cols, int k, const float *a, const float *b, float *c) {
    gemm_columns<<<dim3((cols + 31) / 32, (rows + 15) / 16), dim3(32, 4)>>>(rows, cols, k, a, b, c);
}
// fault: threadIdx.y) * 4; => threadIdx.y) * 3;
// fault: if (col >= m) return; => if (col >= m - 1) return;
// fault: if (row + r < n) sum => if (row + r < n - 1) sum
// fault: p < k; p++ => p < k - 1; p++
// fault: c[(row + r) * m + col] = sum[r] => c[(row + r) * m + col] += sum[r]
// fault: (rows + 15) / 16 => (rows + 15) / 32
// fault: float v = b[p * m + col]; => float v = b[p * m + col] + 0.01f;
// fault: {0, 0, 0, 0} => {0, 0, 1, 0}
