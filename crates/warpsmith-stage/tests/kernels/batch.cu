// Products of a batch of matrices, by pointers, with leading dimensions.
#define T 16
__global__ void gemm_batched(const float *A, int lda, const float *B, int ldb, float *C, int ldc, int m, int n, int k, size_t strideA, size_t strideB, size_t strideC)
{
    __shared__ float As[T][T];
    __shared__ float Bs[T][T];
    const float *a = A + blockIdx.z * strideA;
    const float *b = B + blockIdx.z * strideB;
    float *c = C + blockIdx.z * strideC;
    const int row = blockIdx.y * T + threadIdx.y;
    const int col = blockIdx.x * T + threadIdx.x;
    float acc = 0.f;
    for (int k0 = 0; k0 < k; k0 += T) {
        if (row < m && k0 + threadIdx.x < k) As[threadIdx.y][threadIdx.x] = *(a + row * lda + k0 + threadIdx.x);
        if (col < n && k0 + threadIdx.y < k) Bs[threadIdx.y][threadIdx.x] = *(b + (k0 + threadIdx.y) * ldb + col);
        __syncthreads();
        const int kend = min(T, k - k0);
        if (row < m && col < n)
            for (int kk = 0; kk < kend; kk++)
                acc += __opt__(*(a + row * lda + (k0 + kk))) * __opt__(*(b + (k0 + kk) * ldb + col));
        __syncthreads();
    }
    if (row < m && col < n) c[row * ldc + col] = acc;
}
