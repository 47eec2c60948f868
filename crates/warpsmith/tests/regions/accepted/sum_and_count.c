// warpsmith: size n=4096
void sum(int n, const double x[n], double *total, int *count)
{
    *total = 0;
    *count = 0;
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp critical
        {
            *total += x[i];
            if (x[i] > 0) *count += 1;
        }
    }
}
