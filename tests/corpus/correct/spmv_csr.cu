// Sparse matrix-vector product, scalar and vector form, on a matrix whose CSR arrays a first kernel writes: data-dependent loops.

// A banded matrix: row r holds columns max(r-1,0) .. min(r+1,n-1), at a fixed three slots a row.
// warpsmith: grid=1 block=40 arg row_begin=int[40] arg row_end=int[40] arg col=int[120] arg val=float[120] arg n=37
__global__ void build_band(int *row_begin, int *row_end, int *col, float *val, int n)
{
    int r = threadIdx.x;
    if (r < n) {
        int k = 3 * r;
        row_begin[r] = k;
        for (int c = max(r - 1, 0); c <= min(r + 1, n - 1); ++c, ++k) {
            col[k] = c;
            val[k] = (c == r) ? 2.0f : -1.0f;
        }
        row_end[r] = k;
    }
}

// warpsmith: grid=2 block=20 arg row_begin=int[40] arg row_end=int[40] arg col=int[120] arg val=float[120] arg x=float[40]=random arg y=float[40]=random arg n=37
__global__ void spmv_csr_scalar(const int *row_begin, const int *row_end, const int *col, const float *val, const float *x, float *y, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n) {
        float dot = 0;
        for (int j = row_begin[row]; j < row_end[row]; ++j) dot += val[j] * x[col[j]];
        y[row] = dot;
    }
}

// warpsmith: grid=10 block=128 arg row_begin=int[40] arg row_end=int[40] arg col=int[120] arg val=float[120] arg x=float[40]=random arg z=float[40]=random arg n=37
__global__ void spmv_csr_vector(const int *row_begin, const int *row_end, const int *col, const float *val, const float *x, float *z, int n)
{
    int thread_id = blockDim.x * blockIdx.x + threadIdx.x;
    int warp_id = thread_id / 32;
    int lane = thread_id & (32 - 1);
    if (warp_id < n) {
        float partial = 0;
        for (int j = row_begin[warp_id] + lane; j < row_end[warp_id]; j += 32) partial += val[j] * x[col[j]];
        for (int d = 16; d; d >>= 1) partial += __shfl_down_sync(0xffffffff, partial, d);
        if (lane == 0) z[warp_id] = partial;
    }
}

// warpsmith: run build_band, spmv_csr_scalar, spmv_csr_vector
