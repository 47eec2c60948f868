// rectangular: M,N,K different, transposed B, alpha/beta, double
#define TM 16
#define TN 16
#define TK 8
__global__ void dgemm_nt(int M, int N, int K, double alpha, const double *A, int lda, const double *B, int ldb, double beta, double *C, int ldc)
{
    __shared__ double sA[TM][TK];
    __shared__ double sB[TN][TK];
    int m = blockIdx.y * TM + threadIdx.y, n = blockIdx.x * TN + threadIdx.x;
    double acc = 0;
    for (int k0 = 0; k0 < K; k0 += TK) {
        if (threadIdx.x < TK) {
            if (m < M && k0 + threadIdx.x < K) sA[threadIdx.y][threadIdx.x] = A[m * lda + k0 + threadIdx.x];
            int nn = blockIdx.x * TN + threadIdx.y;
            if (nn < N && k0 + threadIdx.x < K) sB[threadIdx.y][threadIdx.x] = B[nn * ldb + k0 + threadIdx.x];
        }
        __syncthreads();
        for (int k = k0; k < min(k0 + TK, K); k++)
            if (m < M && n < N) acc += __opt__(A[m * lda + k]) * __opt__(B[n * ldb + k]);
        __syncthreads();
    }
    if (m < M && n < N) C[m * ldc + n] = alpha * acc + beta * C[m * ldc + n];
}
