// Matrix product C = A B, row-major.
// warpsmith: size n=1024 m=1024 k=1024

void gemm(int n, int m, int k, const float A[n][k], const float B[k][m], float C[n][m])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++) {
            C[i][j] = 0.0f;
            for (int l = 0; l < k; l++) {
                C[i][j] += A[i][l] * B[l][j];
            }
        }
    }
}
