// warpsmith: size n=512
void f(int n, float y[n], float z[n])
{
    #pragma omp parallel sections
    {
        #pragma omp section
        for (int i = 0; i < n; i++) y[i] = 1.0f;
        #pragma omp section
        for (int i = 0; i < n; i++) z[i] = 1.0f;
    }
}
