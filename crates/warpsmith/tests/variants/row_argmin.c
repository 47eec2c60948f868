// warpsmith: size n=2048 m=1024
// expect: bind i, share j
void row_argmin(int n, int m, const float a[n][m], int where[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float best = a[i][0];
        int at = 0;
        for (int j = 1; j < m; j++)
            if (a[i][j] < best) {
                best = a[i][j];
                at = j;
            }
        where[i] = at;
    }
}
