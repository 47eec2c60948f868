// warpsmith: size n=4096
void hist(int n, const unsigned char img[n], int h[256])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        h[img[i]]++;
}
