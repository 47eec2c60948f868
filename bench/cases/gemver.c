// GEMVER: B = A + u1 v1' + u2 v2', x = beta B' y + z, w = alpha B x. All of x is needed before w, so B is
// written once and read once more.
// warpsmith: size n=1024

void gemver(int n, float alpha, float beta, const float A[n][n], const float u1[n],
            const float v1[n], const float u2[n], const float v2[n], const float y[n],
            const float z[n], float B[n][n], float x[n], float w[n])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            B[i][j] = A[i][j] + u1[i] * v1[j] + u2[i] * v2[j];
        }
    }

    #pragma omp parallel for
    for (int j = 0; j < n; j++) {
        float sum = 0.0f;
        for (int i = 0; i < n; i++) {
            sum += B[i][j] * y[i];
        }
        x[j] = beta * sum + z[j];
    }

    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float sum = 0.0f;
        for (int j = 0; j < n; j++) {
            sum += B[i][j] * x[j];
        }
        w[i] = alpha * sum;
    }
}
