// warpsmith: size n=2048 m=2048
// expect: bind i, j
void stencil_coefficients(int n, int m, const float a[n][m], const float cw[n][m], const float cn[n][m], float b[n][m])
{
    #pragma omp parallel for collapse(2)
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            b[i][j] = a[i][j] + cw[i][j] * (a[i][j - 1] - a[i][j]) + cw[i][j + 1] * (a[i][j + 1] - a[i][j])
                    + cn[i][j] * (a[i - 1][j] - a[i][j]) + cn[i + 1][j] * (a[i + 1][j] - a[i][j]);
}
