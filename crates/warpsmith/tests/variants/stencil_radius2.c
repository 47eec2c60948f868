// warpsmith: size n=4096 m=4096
// expect: register_tile i
void stencil_radius2(int n, int m, const float a[n][m], float b[n][m])
{
    #pragma omp parallel for collapse(2)
    for (int i = 2; i < n - 2; i++)
        for (int j = 2; j < m - 2; j++)
            b[i][j] = 0.5f * a[i][j] + 0.1f * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1])
                    + 0.025f * (a[i - 2][j] + a[i + 2][j] + a[i][j - 2] + a[i][j + 2]);
}
