// warpsmith: size n=512
void f(int n, const int k[n], int h[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        h[k[i] % n] += h[i];
    }
}
