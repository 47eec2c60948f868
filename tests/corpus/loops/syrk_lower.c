void dsyrk_ln(int n, int k, double alpha, double *A, int lda, double beta, double *C, int ldc)
{
    #pragma omp parallel for schedule(dynamic, 8)
    for (int i = n - 1; i >= 0; --i)
        for (int j = 0; j <= i; ++j) {
            double *cij = C + i * ldc + j;
            *cij *= beta;
            for (int p = 0; p < k; ++p)
                *cij += alpha * A[i * lda + p] * A[j * lda + p];
        }
}
