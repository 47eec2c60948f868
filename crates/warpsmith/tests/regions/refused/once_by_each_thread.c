// warpsmith: size n=512
void f(int n, const float x[n], float y[n], int *count)
{
    #pragma omp parallel
    {
        #pragma omp atomic
        *count += 1;
        #pragma omp for
        for (int i = 0; i < n; i++) y[i] = x[i];
    }
}
