// Covariance of the columns of a matrix whose columns have mean zero: a triangle is computed, both halves are stored.
// warpsmith: size n=2048 m=2048

void covariance(int n, int m, const float data[n][m], float cov[m][m])
{
    #pragma omp parallel for
    for (int i = 0; i < m; i++) {
        for (int j = i; j < m; j++) {
            float sum = 0.0f;
            for (int k = 0; k < n; k++) {
                sum += data[k][i] * data[k][j];
            }
            cov[i][j] = sum / (float)(n - 1);
            cov[j][i] = cov[i][j];
        }
    }
}
