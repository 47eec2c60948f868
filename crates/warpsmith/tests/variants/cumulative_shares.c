// warpsmith: size n=8192 m=4096
// expect: keep_rows i
// Running sums of each row, then divided by the whole sum.
void cumulative_shares(int n, int m, const float x[n][m], float y[n][m])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float sum = 0;
        for (int j = 0; j < m; j++) {
            sum += x[i][j];
            y[i][j] = sum;
        }
        for (int j = 0; j < m; j++)
            y[i][j] /= sum;
    }
}
