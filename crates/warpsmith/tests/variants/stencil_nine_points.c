// warpsmith: size n=4096 m=4096
// expect: register_tile i
void stencil_nine_points(int n, int m, const float a[n][m], float b[n][m])
{
    #pragma omp parallel for collapse(2)
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            b[i][j] = 0.2f * a[i][j] + 0.15f * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1])
                    + 0.05f * (a[i - 1][j - 1] + a[i - 1][j + 1] + a[i + 1][j - 1] + a[i + 1][j + 1]);
}
