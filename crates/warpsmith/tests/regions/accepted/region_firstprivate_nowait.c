// warpsmith: size n=512
void f(int n, float a, const float x[n], float y[n], float z[n])
{
    float c = a;
    #pragma omp parallel firstprivate(c) default(shared) num_threads(4)
    {
        #pragma omp for schedule(static) nowait
        for (int i = 0; i < n; i++) y[i] = c * x[i];
        #pragma omp for schedule(static)
        for (int i = 0; i < n; i++) z[i] = y[i] + c;
    }
}
