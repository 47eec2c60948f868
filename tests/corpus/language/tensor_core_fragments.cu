// Matrix products of warps: fragments of several shapes and types, both layouts, element by element operations.
#include <assert.h>
#include <mma.h>
using namespace nvcuda;
// warpsmith: grid=1 block=64 arg a=half[512]=zeros arg b=half[512]=zeros arg c=float[512]=iota arg d=float[512]
__global__ void halves(half *a, half *b, const float *c, float *d)
{
    for (int i = threadIdx.x; i < 512; i += blockDim.x) {
        a[i] = __float2half(0.5f);
        b[i] = __float2half(2.0f);
    }
    __syncthreads();
    const int warp = threadIdx.x / warpSize;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum, old;
    wmma::fill_fragment(sum, 1.0f);
    wmma::load_matrix_sync(fa, a + 256 * warp, 16);
    wmma::load_matrix_sync(fb, b + 256 * warp, 16);
    wmma::load_matrix_sync(old, c + 256 * warp, 16, wmma::mem_row_major);
    wmma::mma_sync(sum, fa, fb, sum);
    for (int i = 0; i < sum.num_elements; i++) sum.x[i] = 2.0f * sum.x[i] + old.x[i];
    wmma::store_matrix_sync(d + 256 * warp, sum, 16, wmma::mem_row_major);
    __syncthreads();
    for (int i = threadIdx.x; i < 512; i += blockDim.x) assert(d[i] == 2.0f * 17.0f + c[i]);
}

// warpsmith: grid=1 block=32 arg a=schar[512]=iota arg b=schar[128]=zeros arg d=int[256]
__global__ void bytes(const signed char *a, signed char *b, int *d)
{
    for (int i = threadIdx.x; i < 128; i += 32) b[i] = 1;
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 32, 8, 16, signed char, wmma::col_major> fa;
    wmma::fragment<wmma::matrix_b, 32, 8, 16, signed char, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 32, 8, 16, int> sum;
    wmma::fill_fragment(sum, 0);
    wmma::load_matrix_sync(fa, a, 32);
    wmma::load_matrix_sync(fb, b, 8);
    wmma::mma_sync(sum, fa, fb, sum);
    wmma::store_matrix_sync(d, sum, 8, wmma::mem_row_major);
    const int row = threadIdx.x;
    int all = 0;
    for (int k = 0; k < 16; k++) all += a[k * 32 + row];
    for (int j = 0; j < 8; j++) assert(d[row * 8 + j] == all);
}
