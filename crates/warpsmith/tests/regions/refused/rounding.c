// warpsmith: size n=512
// warpsmith: size m=64
void f(int n, int m, const int k[n], const float x[n], int h[m])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        h[k[i] % m] += x[i];
    }
}
