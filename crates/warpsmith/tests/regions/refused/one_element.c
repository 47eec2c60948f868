// warpsmith: size n=512
void f(int n, float y[n])
{
    #pragma omp parallel for reduction(+: y[2])
    for (int i = 0; i < n; i++) y[2] += 1;
}
