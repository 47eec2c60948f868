// y = L x for a lower triangular matrix: the inner loop grows with the row.
// warpsmith: size n=4096

void triangular(int n, const float L[n][n], const float x[n], float y[n])
{
    #pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < n; i++) {
        float sum = 0.0f;
        for (int j = 0; j <= i; j++) {
            sum += L[i][j] * x[j];
        }
        y[i] = sum;
    }
}
