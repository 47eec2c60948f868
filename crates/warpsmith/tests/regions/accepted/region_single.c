// warpsmith: size n=512
void f(int n, const float x[n], float y[n], float z[n], float s[1])
{
    #pragma omp parallel
    {
        #pragma omp for
        for (int i = 0; i < n; i++) y[i] = 2.0f * x[i];
        #pragma omp single
        s[0] = y[0] + 1.0f;
        #pragma omp for
        for (int i = 0; i < n; i++) z[i] = y[i] * s[0];
        #pragma omp barrier
        #pragma omp master
        s[0] = 3.0f;
    }
}
