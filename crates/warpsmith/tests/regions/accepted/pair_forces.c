// warpsmith: size np=2048
// warpsmith: size n=64
void pairs(int np, int n, const int a[np], const int b[np], const double x[n], double f[n])
{
    #pragma omp parallel for default(none) shared(np, n, a, b, x, f)
    for (int p = 0; p < np; p++) {
        int i = a[p] % n, j = b[p] % n;
        double d = x[i] - x[j];
        #pragma omp atomic
        f[i] += d;
        #pragma omp atomic
        f[j] -= d;
    }
}
