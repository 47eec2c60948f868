// warpsmith: size n=512
// warpsmith: size m=64
void f(int n, int m, const int k[n], int h[m], int out[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        h[k[i] % m] += 2;
        out[i] = h[k[i] % m];
    }
}
