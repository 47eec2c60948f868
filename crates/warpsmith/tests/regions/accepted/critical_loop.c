// warpsmith: size n=512
// warpsmith: size d=16
void f(int n, int d, const float x[n][d], float s[d])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp critical
        for (int j = 0; j < d; j++) s[j] += x[i][j];
    }
}
