// Matrix product C = Aᵀ Bᵀ: both operands are stored transposed.
// warpsmith: size n=1024 m=1024 k=1024

void gemm_tt(int n, int m, int k, const float A[k][n], const float B[m][k], float C[n][m])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++) {
            float sum = 0.0f;
            for (int l = 0; l < k; l++) {
                sum += A[l][i] * B[j][l];
            }
            C[i][j] = sum;
        }
    }
}
