// warpsmith: size n=512
// warpsmith: size m=64
void f(int n, int m, float y[n][m])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++) {
        float t = i * 0.5f;
        for (int j = 0; j < m; j++) y[i][j] = t;
    }
}
