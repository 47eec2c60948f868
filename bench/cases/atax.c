// ATAX: y = A' (A x); t holds A x.
// warpsmith: size n=1024 m=1024

void atax(int n, int m, const float A[n][m], const float x[m], float t[n], float y[m])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float sum = 0.0f;
        for (int j = 0; j < m; j++) {
            sum += A[i][j] * x[j];
        }
        t[i] = sum;
    }

    #pragma omp parallel for
    for (int j = 0; j < m; j++) {
        float sum = 0.0f;
        for (int i = 0; i < n; i++) {
            sum += A[i][j] * t[i];
        }
        y[j] = sum;
    }
}
