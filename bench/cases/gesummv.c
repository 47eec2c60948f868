// GESUMMV: y = alpha A x + beta B x.
// warpsmith: size n=1024 m=1024

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
