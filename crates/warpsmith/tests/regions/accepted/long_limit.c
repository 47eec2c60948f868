// warpsmith: size n=3000 m=37
// Limits that no size from 0 on makes less than an `int`.
void long_limit(long long n, int m, float *a, const float *x, float *y)
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) a[i] += 1;
    #pragma omp parallel for
    for (int i = 0; i + 2 <= m; i++) y[i] = x[i] + x[i + 1];
}
