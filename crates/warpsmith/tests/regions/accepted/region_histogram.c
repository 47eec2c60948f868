// warpsmith: size n=4096
void f(int n, const unsigned char img[n], int hist[256])
{
    #pragma omp parallel
    {
        int local[256] = {0};
        #pragma omp for nowait
        for (int i = 0; i < n; i++) local[img[i]]++;
        #pragma omp critical
        for (int b = 0; b < 256; b++) hist[b] += local[b];
    }
}
