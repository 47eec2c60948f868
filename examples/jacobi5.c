// One Jacobi sweep of the five-point Laplace stencil; the border keeps its values.
// warpsmith: size n=2048 m=2048

void jacobi5(int n, int m, const float u[n][m], float v[n][m])
{
    #pragma omp parallel for collapse(2)
    for (int i = 1; i < n - 1; i++) {
        for (int j = 1; j < m - 1; j++) {
            v[i][j] = 0.25f * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
        }
    }
}
