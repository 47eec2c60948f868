// The sum of every row.
// warpsmith: size n=4096 m=4096

void row_sums(int n, int m, const float A[n][m], float sums[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        sums[i] = 0.0f;
        for (int j = 0; j < m; j++) {
            sums[i] += A[i][j];
        }
    }
}
