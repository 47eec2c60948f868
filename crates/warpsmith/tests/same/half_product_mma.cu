// same-as: references.cu:half_product
// Tiles of sixteen with the matrix units; what lies beyond the matrices is zero.
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
__global__ void half_product_mma(int n, int m, int k, const __half *a, const __half *b, float *c) {
    __shared__ __half as[16][16], bs[16][16];
    __shared__ float cs[16][16];
    int row = blockIdx.y * 16, col = blockIdx.x * 16;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int p = 0; p < k; p += 16) {
        for (int t = threadIdx.x; t < 256; t += 32) {
            int i = t / 16, j = t % 16;
            as[i][j] = row + i < n && p + j < k ? a[(row + i) * k + p + j] : __float2half(0.0f);
            bs[i][j] = p + i < k && col + j < m ? b[(p + i) * m + col + j] : __float2half(0.0f);
        }
        __syncwarp();
        wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
        wmma::load_matrix_sync(fa, &as[0][0], 16);
        wmma::load_matrix_sync(fb, &bs[0][0], 16);
        wmma::mma_sync(sum, fa, fb, sum);
        __syncwarp();
    }
    wmma::store_matrix_sync(&cs[0][0], sum, 16, wmma::mem_row_major);
    __syncwarp();
    for (int t = threadIdx.x; t < 256; t += 32)
        if (row + t / 16 < n && col + t % 16 < m) c[(row + t / 16) * m + col + t % 16] = cs[t / 16][t % 16];
}
void product(int n, int m, int k, const __half *a, const __half *b, float *c) {
    half_product_mma<<<dim3((m + 15) / 16, (n + 15) / 16), 32>>>(n, m, k, a, b, c);
}
// fault: p + j < k ? a => p + j <= k - 2 ? a
// fault: wmma::matrix_b, 16, 16, 16, __half, wmma::row_major => wmma::matrix_b, 16, 16, 16, __half, wmma::col_major
// fault: p += 16) { => p += 17) {
// fault: (m + 15) / 16, (n => (m + 14) / 16, (n
// fault: wmma::mem_row_major => wmma::mem_col_major
// fault: cs[t / 16][t % 16]; => cs[t % 16][t / 16];
// right: wmma::fill_fragment(sum, 0.0f); => wmma::fill_fragment(sum, 0);
