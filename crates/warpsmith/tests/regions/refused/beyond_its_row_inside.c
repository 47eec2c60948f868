// warpsmith: size n=64 m=64
// Sizes without an iteration say nothing about the rest.
void shift(int n, int m, float a[n][m], const float b[n][m]) {
#pragma omp parallel for
    for (int i = 0; i < n - 1; i++)
        for (int j = 0; j < m; j++) a[i][j + 1] = b[i][j];
}
