// warpsmith: size n=2048
// warpsmith: size m=64
double both(int n, int m, const int b[n], const double x[n], int h[m])
{
    double s = 0;
    #pragma omp parallel for reduction(+: s)
    for (int i = 0; i < n; i++) {
        s += x[i];
        #pragma omp atomic
        h[b[i] % m]++;
    }
    return s;
}
