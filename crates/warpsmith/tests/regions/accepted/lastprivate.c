// warpsmith: size n=512
int f(int n, const int x[n], int y[n])
{
    int last = -1;
    #pragma omp parallel
    {
        #pragma omp for lastprivate(last)
        for (int i = 0; i < n; i++) { last = x[i] * 2; y[i] = last; }
    }
    return last;
}
