// warpsmith: size n=64 m=64
// The last column has no neighbour on its right: there the next row begins, whose iteration writes it.
void smooth(int n, int m, float a[n][m]) {
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) a[i][j] = 0.5f * (a[i][j] + a[i][j + 1]);
}
