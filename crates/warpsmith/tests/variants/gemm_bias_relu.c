// warpsmith: size n=1024 m=1024 k=1024
// expect: stage A at l, stage B at l, register_tile i, register_tile j
void gemm_bias_relu(int n, int m, int k, const float A[n][k], const float B[k][m],
                    const float bias[m], float C[n][m])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            float sum = bias[j];
            for (int l = 0; l < k; l++)
                sum += A[i][l] * B[l][j];
            C[i][j] = sum > 0.0f ? sum : 0.0f;
        }
}
