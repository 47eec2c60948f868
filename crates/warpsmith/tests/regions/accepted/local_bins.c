// warpsmith: size n=2048
void f(int n, const int k[n], int out[64])
{
    int bins[64];
    for (int b = 0; b < 64; b++) bins[b] = 0;
    #pragma omp parallel for reduction(+: bins)
    for (int i = 0; i < n; i++) bins[k[i] & 63]++;
    for (int b = 0; b < 64; b++) out[b] = bins[b];
}
