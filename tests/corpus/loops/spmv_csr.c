void spmv_csr(const int n, const int nnz, const int *row_ptr, const int *col_ind, const double *val, const double *x,
              double *y)
{
    int i, j;
    double t;
#pragma omp parallel for private(j, t)
    for (i = 0; i < n; i++) {
        t = 0.0;
        for (j = row_ptr[i]; j < row_ptr[i + 1]; j++)
            t += val[j] * x[col_ind[j]];
        y[i] = t;
    }
}
