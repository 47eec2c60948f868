// warpsmith: size n=4096
void hist(int n, const int img[n], unsigned h[256])
{
    #pragma omp parallel for reduction(+: h[:256])
    for (int i = 0; i < n; i++) h[img[i] & 255] += 1;
}
