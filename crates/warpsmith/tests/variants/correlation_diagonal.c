// warpsmith: size n=2048 m=2048
// expect: distribute i, rectangle j, stage data#1 at k
// The diagonal is set beside the loop over the rest of a row.
void correlation_diagonal(int n, int m, const float data[n][m], float corr[m][m])
{
    #pragma omp parallel for
    for (int i = 0; i < m; i++) {
        corr[i][i] = 1.0f;
        for (int j = i + 1; j < m; j++) {
            corr[i][j] = 0.0f;
            for (int k = 0; k < n; k++)
                corr[i][j] += data[k][i] * data[k][j];
            corr[j][i] = corr[i][j];
        }
    }
}
