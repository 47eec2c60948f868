// warpsmith: size n=64
// warpsmith: size m=48
void f(int n, int m, const int c[n][m], int h[16])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            #pragma omp atomic
            h[c[i][j] & 15]++;
        }
}
