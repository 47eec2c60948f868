// function: f
// warpsmith: size n=512
// warpsmith: size m=64
static void add(int m, float y[m], int k, float v)
{
    #pragma omp atomic
    y[k] += v;
}
void f(int n, int m, const int k[n], const float x[n], float y[m])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) add(m, y, k[i] % m, x[i]);
}
