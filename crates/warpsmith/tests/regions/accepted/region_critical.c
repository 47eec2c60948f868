// warpsmith: size n=512
void f(int n, const int x[n], int *hits, long long *sum)
{
    #pragma omp parallel shared(hits, sum)
    {
        #pragma omp for reduction(+: sum[:1])
        for (int i = 0; i < n; i++) {
            *sum += x[i];
            #pragma omp critical(hits)
            (*hits) += x[i] > 50;
        }
    }
}
