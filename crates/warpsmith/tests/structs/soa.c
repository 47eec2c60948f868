struct Grid { float u, v, p, pad; };
void f(int n, int m, const struct Grid a[n][m], struct Grid b[n][m])
{
    #pragma omp parallel for collapse(2)
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++) {
            b[i][j].u = 0.25f * (a[i-1][j].u + a[i+1][j].u + a[i][j-1].u + a[i][j+1].u);
            b[i][j].v = a[i][j].p - a[i][j].v;
        }
}
