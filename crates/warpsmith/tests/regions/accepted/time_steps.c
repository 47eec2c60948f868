// warpsmith: size n=512
// warpsmith: size t=3
void f(int n, int t, float a[n], float b[n])
{
    #pragma omp parallel
    for (int s = 0; s < t; s++) {
        #pragma omp for
        for (int i = 1; i < n - 1; i++) b[i] = 0.5f * (a[i - 1] + a[i + 1]);
        #pragma omp for
        for (int i = 1; i < n - 1; i++) a[i] = b[i];
    }
}
