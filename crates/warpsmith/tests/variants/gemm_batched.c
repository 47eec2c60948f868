// warpsmith: size batch=16 n=256 m=256 k=256
// expect: stage A at l, stage B at l, register_tile i, register_tile j
void gemm_batched(int batch, int n, int m, int k, const float A[batch][n][k],
                  const float B[batch][k][m], float C[batch][n][m])
{
    #pragma omp parallel for collapse(3)
    for (int b = 0; b < batch; b++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++) {
                float sum = 0.0f;
                for (int l = 0; l < k; l++)
                    sum += A[b][i][l] * B[b][l][j];
                C[b][i][j] = sum;
            }
}
