// The sum of every column.
// warpsmith: size n=4096 m=4096

void column_sums(int n, int m, const float A[n][m], float sums[m])
{
    #pragma omp parallel for
    for (int j = 0; j < m; j++) {
        float sum = 0.0f;
        for (int i = 0; i < n; i++) {
            sum += A[i][j];
        }
        sums[j] = sum;
    }
}
