/* C := alpha*op(A)*B + beta*C, column major as in the reference BLAS */
#define A(i, j) a[(i) + (j) * lda]
#define B(i, j) b[(i) + (j) * ldb]
#define C(i, j) c[(i) + (j) * ldc]

void my_dgemm(int transa, int m, int n, int k, double alpha, const double *a, int lda, const double *b, int ldb,
              double beta, double *c, int ldc)
{
    int i, j, l;
#pragma omp parallel for private(i, l)
    for (j = 0; j < n; j++) {
        for (i = 0; i < m; i++) {
            double temp = 0.0;
            if (transa)
                for (l = 0; l < k; l++) temp += A(l, i) * B(l, j);
            else
                for (l = 0; l < k; l++) temp += A(i, l) * B(l, j);
            if (beta == 0.0)
                C(i, j) = alpha * temp;
            else
                C(i, j) = alpha * temp + beta * C(i, j);
        }
    }
}
