// warpsmith: size n=200000 m=48
// expect: split_k i
// Sums of few columns that are long.
void weighted_columns(int n, int m, const float x[n][m], const float w[n], float sums[m])
{
    #pragma omp parallel for
    for (int j = 0; j < m; j++) {
        sums[j] = 0.0f;
        for (int i = 0; i < n; i++)
            sums[j] += w[i] * x[i][j];
    }
}
