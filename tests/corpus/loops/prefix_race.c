/* somebody's smoothing in place: wrong under the mark */
void smooth(double *p, int n, int m)
{
#pragma omp parallel for
    for (int i = 1; i < n; i++)
        for (int j = 0; j < m; j++)
            p[i * m + j] = 0.5 * (p[i * m + j] + p[(i - 1) * m + j]);
}
