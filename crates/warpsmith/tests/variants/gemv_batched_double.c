// warpsmith: size b=16 n=512 m=2048
// expect: share j
void gemv_batched(int b, int n, int m, const double A[b][n][m], const double x[b][m],
                  double y[b][n])
{
    #pragma omp parallel for collapse(2)
    for (int k = 0; k < b; k++)
        for (int i = 0; i < n; i++) {
            double sum = 0.0;
            for (int j = 0; j < m; j++)
                sum += A[k][i][j] * x[k][j];
            y[k][i] = sum;
        }
}
