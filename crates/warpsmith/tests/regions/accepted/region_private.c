// warpsmith: size n=512
void f(int n, const float x[n], float y[n])
{
    float c, t;
    #pragma omp parallel private(c, t)
    {
        c = 2.0f;
        #pragma omp for
        for (int i = 0; i < n; i++) { t = c * x[i]; y[i] = t + 1.0f; }
    }
}
