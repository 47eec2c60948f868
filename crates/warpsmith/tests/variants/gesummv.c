// warpsmith: size n=4096 m=4096
// expect: share j
void gesummv(int n, int m, float alpha, float beta, const float A[n][m], const float B[n][m],
             const float x[m], float y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float a = 0.0f;
        float b = 0.0f;
        for (int j = 0; j < m; j++) {
            a += A[i][j] * x[j];
            b += B[i][j] * x[j];
        }
        y[i] = alpha * a + beta * b;
    }
}
