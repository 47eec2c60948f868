// warpsmith: size n=512
void f(int n, const float x[n], float y[n], float *norm)
{
    #pragma omp target data map(to: x[0:n]) map(from: y[0:n])
    {
        float s = 0;
        #pragma omp target teams distribute parallel for reduction(+: s)
        for (int i = 0; i < n; i++) s += x[i] * x[i];
        *norm = s;
        #pragma omp target teams distribute parallel for
        for (int i = 0; i < n; i++) y[i] = x[i] / (s + 1.0f);
    }
}
