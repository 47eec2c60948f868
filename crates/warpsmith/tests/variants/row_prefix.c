// warpsmith: size n=2048 m=1024
// expect: bind i
void row_prefix(int n, int m, const float a[n][m], float out[n][m])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float sum = 0.0f;
        for (int j = 0; j < m; j++) {
            sum += a[i][j];
            out[i][j] = sum;
        }
    }
}
