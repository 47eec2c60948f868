// warpsmith: size n=1024 m=1024 k=1024
// expect: stage A at l, stage B at l, register_tile i, register_tile j
void gemm_alpha_beta(int n, int m, int k, float alpha, const float A[n][k], const float B[k][m],
                     float beta, float C[n][m])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            float sum = 0.0f;
            for (int l = 0; l < k; l++)
                sum += A[i][l] * B[l][j];
            C[i][j] = alpha * sum + beta * C[i][j];
        }
}
