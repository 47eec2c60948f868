// warpsmith: size n=4096 m=4096
// expect: carry j, scan j
void cumulative_sums(int n, int m, const float x[n][m], float y[n][m])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        y[i][0] = x[i][0];
        for (int j = 1; j < m; j++)
            y[i][j] = y[i][j - 1] + x[i][j];
    }
}
