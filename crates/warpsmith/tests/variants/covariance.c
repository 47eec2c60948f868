// Columns of one matrix times columns of the same.
// warpsmith: size n=512 m=512
// expect: register_tile i, register_tile j, stage data#1 at k, stage data#2 at k
void covariance(int n, int m, const float data[n][m], const float mean[m], float cov[m][m])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) {
            float s = 0;
            for (int k = 0; k < n; k++)
                s += (data[k][i] - mean[i]) * (data[k][j] - mean[j]);
            cov[i][j] = s / (n - 1.0f);
        }
}
