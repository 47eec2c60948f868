void spmv_coo(int nnz, int n, const int *ri, const int *ci, const double *v, const double *x, double *y)
{
    int e;
#pragma omp parallel
    {
#pragma omp for
        for (e = 0; e < n; e++) y[e] = 0.0;
#pragma omp for
        for (e = 0; e < nnz; e++) {
            double t = v[e] * x[ci[e]];
#pragma omp atomic
            y[ri[e]] += t;
        }
    }
}
