// warpsmith: size n=512
void f(int n, const float x[n], float y[n], float z[n])
{
    #pragma omp parallel
    {
        #pragma omp for nowait
        for (int i = 0; i < n; i++) y[i] = 2.0f * x[i];
        #pragma omp for
        for (int i = 0; i < n; i++) z[i] = y[n - 1 - i];
    }
}
