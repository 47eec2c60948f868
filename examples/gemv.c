// Matrix-vector product y = A x.
// warpsmith: size n=4096 m=4096

void gemv(int n, int m, const float A[n][m], const float x[m], float y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float sum = 0.0f;
        for (int j = 0; j < m; j++) {
            sum += A[i][j] * x[j];
        }
        y[i] = sum;
    }
}
