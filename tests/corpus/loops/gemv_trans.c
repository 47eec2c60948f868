typedef long idx;
void gemv_t(idx m, idx n, const float *A, idx lda, const float *x, idx incx, float *y, idx incy)
{
    idx i, j;
    #pragma omp parallel for private(i)
    for (j = 0; j < n; j++) {
        const float *col = A + j;
        const float *xp = x;
        float dot = 0;
        for (i = 0; i < m; i++) {
            dot += *col * *xp;
            col += lda;
            xp += incx;
        }
        y[j * incy] += dot;
    }
}
