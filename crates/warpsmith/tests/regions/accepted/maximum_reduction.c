// warpsmith: size n=2048
// warpsmith: size m=64
void f(int n, int m, const int k[n], const int x[n], int best[m])
{
    #pragma omp parallel for reduction(max: best[0:m])
    for (int i = 0; i < n; i++)
        if (best[k[i] % m] < x[i]) best[k[i] % m] = x[i];
}
