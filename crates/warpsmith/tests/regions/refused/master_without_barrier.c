// warpsmith: size n=512
void f(int n, const float x[n], float y[n], float s[1])
{
    #pragma omp parallel
    {
        #pragma omp master
        s[0] = x[0];
        #pragma omp for
        for (int i = 0; i < n; i++) y[i] = s[0];
    }
}
