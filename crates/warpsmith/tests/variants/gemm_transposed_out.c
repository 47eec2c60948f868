// warpsmith: size n=1024 m=1024 k=1024
// expect: accumulate C, stage A at l, stage B at l, register_tile i, register_tile j
void gemm_transposed_out(int n, int m, int k, const float A[k][n], const float B[m][k], float C[m][n])
{
    #pragma omp parallel for collapse(2)
    for (int j = 0; j < m; j++)
        for (int i = 0; i < n; i++) {
            C[j][i] = 0.0f;
            for (int l = 0; l < k; l++)
                C[j][i] += A[l][i] * B[j][l];
        }
}
