// warpsmith: size n=4096
// warpsmith: size m=128
void scatter(int n, int m, const int idx[n], const double x[n], float y[m])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        y[idx[i] % m] -= 0.1 * x[i];
    }
}
