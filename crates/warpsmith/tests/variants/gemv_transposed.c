// warpsmith: size n=4096 m=4096
// expect: bind j
void gemv_transposed(int n, int m, const float A[n][m], const float x[n], float y[m])
{
    #pragma omp parallel for
    for (int j = 0; j < m; j++) {
        float sum = 0.0f;
        for (int i = 0; i < n; i++)
            sum += A[i][j] * x[i];
        y[j] = sum;
    }
}
