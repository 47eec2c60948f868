// function: f
// warpsmith: size n=512
static int next(int *p) { int v;
    #pragma omp atomic capture
    v = (*p)++;
    return v; }
void f(int n, int *p, int y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) y[next(p)] = i;
}
