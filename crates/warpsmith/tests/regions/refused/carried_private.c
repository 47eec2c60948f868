// warpsmith: size n=512
void f(int n, const float x[n], float y[n])
{
    float c;
    #pragma omp parallel private(c)
    {
        c = 0.0f;
        #pragma omp for
        for (int i = 0; i < n; i++) { if (x[i] > 0) c = x[i]; y[i] = c; }
    }
}
