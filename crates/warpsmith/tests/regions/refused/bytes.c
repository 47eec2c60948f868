// warpsmith: size n=512
void f(int n, const unsigned char x[n], unsigned char h[256])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        h[x[i]]++;
    }
}
