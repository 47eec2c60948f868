// warpsmith: size n=1024 m=1024 k=1024
// expect: accumulate C, register_tile i, register_tile j
void gemm_double(int n, int m, int k, const double A[n][k], const double B[k][m], double C[n][m])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            C[i][j] = 0.0;
            for (int l = 0; l < k; l++)
                C[i][j] += A[i][l] * B[l][j];
        }
}
