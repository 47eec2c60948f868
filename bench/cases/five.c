// The five-point sum of a grid, the border left as it is: one read and one write of the grid.
// warpsmith: size n=1024 m=1024

void five(int n, int m, const float u[n][m], float v[n][m])
{
    #pragma omp parallel for collapse(2)
    for (int i = 1; i < n - 1; i++) {
        for (int j = 1; j < m - 1; j++) {
            v[i][j] = u[i][j] + u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1];
        }
    }
}
