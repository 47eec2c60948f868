// Matrix product C = A B of column-major matrices: element (i, j) of C is C[j][i].
// warpsmith: size n=1024 m=1024 k=1024

void gemm_column_major(int n, int m, int k, const float A[k][n], const float B[m][k],
                       float C[m][n])
{
    #pragma omp parallel for collapse(2)
    for (int j = 0; j < m; j++) {
        for (int i = 0; i < n; i++) {
            C[j][i] = 0.0f;
            for (int l = 0; l < k; l++) {
                C[j][i] += A[l][i] * B[j][l];
            }
        }
    }
}
