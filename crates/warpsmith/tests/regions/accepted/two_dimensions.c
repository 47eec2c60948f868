// warpsmith: size n=512
#define NB 64
void f(int n, const int x[n], long long h[NB][2])
{
    #pragma omp parallel for reduction(+: h[0:NB][0:2])
    for (int i = 0; i < n; i++) { h[x[i] & 63][0]++; h[x[i] & 63][1] += x[i]; }
}
