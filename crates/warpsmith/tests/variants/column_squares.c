// warpsmith: size n=2048 m=2048
// expect: accumulate out
void column_squares(int n, int m, const float a[n][m], float out[m])
{
    #pragma omp parallel for
    for (int j = 0; j < m; j++) {
        out[j] = 0.0f;
        for (int i = 0; i < n; i++)
            out[j] += a[i][j] * a[i][j];
    }
}
