void f(int n, _Float16 x[n], const _Float16 y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) x[i] = x[i] + y[i];
}
