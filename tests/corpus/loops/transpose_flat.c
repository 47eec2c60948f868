void transpose(const double *a, double *b, int m, int n)
{
    int t;
#pragma omp parallel for
    for (t = 0; t < m * n; t++) {
        int x = t / n;
        int y = t % n;
        b[y * m + x] = a[t];
    }
}
