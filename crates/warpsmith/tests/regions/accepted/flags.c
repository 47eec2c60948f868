// warpsmith: size n=2048
// warpsmith: size m=64
void f(int n, int m, const int k[n], int seen[m])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic write
        seen[k[i] % m] = 1;
    }
}
