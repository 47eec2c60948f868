// warpsmith: size n=512
void f(int n, const float x[n], float *best, int *at)
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp critical
        if (x[i] > *best) { *best = x[i]; *at = i; }
    }
}
