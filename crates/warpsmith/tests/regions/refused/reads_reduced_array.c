// warpsmith: size n=512
void f(int n, const int x[n], int h[64])
{
    #pragma omp parallel for reduction(+: h[:64])
    for (int i = 0; i < n; i++) { h[x[i] & 63]++; if (h[0] > 5) h[1]++; }
}
