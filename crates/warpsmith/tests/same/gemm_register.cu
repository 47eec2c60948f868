// same-as: references.c:gemm_ab
// Blocks of 32 x 32, 4 x 4 elements a thread.
template <int BM, int BK, int TM>
__global__ void gemm_register(int n, int m, int k, float alpha, const float *a, const float *b, float beta, float *c) {
    __shared__ float as[BK][BM + 1], bs[BK][BM];
    constexpr int side = BM / TM;
    int thread = threadIdx.y * side + threadIdx.x, row = blockIdx.y * BM, col = blockIdx.x * BM;
    float sums[TM][TM] = {};
    for (int p = 0; p < k; p += BK) {
        for (int t = thread; t < BM * BK; t += side * side) {
            int i = t / BK, q = t % BK;
            as[q][i] = row + i < n && p + q < k ? a[(row + i) * k + p + q] : 0.0f;
        }
        for (int t = thread; t < BM * BK; t += side * side) {
            int q = t / BM, j = t % BM;
            bs[q][j] = p + q < k && col + j < m ? b[(p + q) * m + col + j] : 0.0f;
        }
        __syncthreads();
        for (int q = 0; q < BK; q++) {
            float x[TM], y[TM];
            for (int i = 0; i < TM; i++) x[i] = as[q][threadIdx.y + i * side];
            for (int j = 0; j < TM; j++) y[j] = bs[q][threadIdx.x + j * side];
            for (int i = 0; i < TM; i++)
                for (int j = 0; j < TM; j++) sums[i][j] += x[i] * y[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < TM; i++)
        for (int j = 0; j < TM; j++) {
            int r = row + threadIdx.y + i * side, s = col + threadIdx.x + j * side;
            if (r < n && s < m) c[r * m + s] = alpha * sums[i][j] + beta * c[r * m + s];
        }
}
void gemm_ab(int n, int m, int k, float alpha, const float *a, const float *b, float beta, float *c) {
    dim3 grid((m + 31) / 32, (n + 31) / 32);
    gemm_register<32, 8, 4><<<grid, dim3(8, 8)>>>(n, m, k, alpha, a, b, beta, c);
}
// right: gemm_register<32, 8, 4> => gemm_register<32, 16, 4>
// right: [BM + 1], bs => [BM], bs
// fault: p + q < k ? a => p + q <= k ? a
// fault: p + q < k && col + j < m ? b => col + j < m ? b
// fault: x[i] * y[j] => x[j] * y[i]
// fault: alpha * sums[i][j] + beta => sums[i][j] + beta
// fault: + beta * c[r * m + s] => + c[r * m + s]
// fault: alpha * sums[i][j] + beta * c[r * m + s] => alpha * (sums[i][j] + beta * c[r * m + s])
// fault: sums[TM][TM] = {}; => sums[TM][TM];
// fault: if (r < n && s < m) => if (r < n && s <= m)
// fault: q < BK; q++ => q < BK - 1; q++
// fault: p < k; p += BK => p < k - 1; p += BK
// fault: c[r * m + s] = alpha => c[r * n + s] = alpha
// fault: (m + 31) / 32, (n + 31) / 32 => (n + 31) / 32, (m + 31) / 32
// fault: as[q][threadIdx.y + i * side] => as[q][threadIdx.y * TM + i]
// fault: t < BM * BK; t += side * side) {\n            int q => t < BM * BK - 1; t += side * side) {\n            int q
