// warpsmith: size n=512
void f(int n, const int x[n], int *s, int out[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp critical
        { *s += x[i]; out[i] = *s; }
    }
}
