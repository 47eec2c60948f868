// How often each value occurs in an image of bytes.
// warpsmith: size n=67108864

void histogram(int n, const unsigned char image[n], unsigned bins[256])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        bins[image[i]]++;
    }
}
