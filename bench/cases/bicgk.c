// BiCGK, the two products of a step of the bi-conjugate gradient method: q = A p and s = A' r.
// warpsmith: size n=1024 m=1024

void bicgk(int n, int m, const float A[n][m], const float p[m], const float r[n], float q[n],
           float s[m])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float sum = 0.0f;
        for (int j = 0; j < m; j++) {
            sum += A[i][j] * p[j];
        }
        q[i] = sum;
    }

    #pragma omp parallel for
    for (int j = 0; j < m; j++) {
        float sum = 0.0f;
        for (int i = 0; i < n; i++) {
            sum += A[i][j] * r[i];
        }
        s[j] = sum;
    }
}
