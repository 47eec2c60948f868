// Rows of one matrix times rows of the same.
// warpsmith: size n=512 m=512
// expect: register_tile i, register_tile j, stage A#1 at k, stage A#2 at k
void syrk(int n, int m, float alpha, float beta, const float A[n][m], float C[n][n])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            C[i][j] *= beta;
            for (int k = 0; k < m; k++)
                C[i][j] += alpha * A[i][k] * A[j][k];
        }
}
