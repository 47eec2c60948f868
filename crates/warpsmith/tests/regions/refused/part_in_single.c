// warpsmith: size n=512
void f(int n, const float x[n], float *y)
{
    #pragma omp parallel
    {
        float part = 0;
        #pragma omp for
        for (int i = 0; i < n; i++) part += x[i];
        #pragma omp single
        *y = part;
    }
}
