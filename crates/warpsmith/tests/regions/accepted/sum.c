// warpsmith: size n=4096
double sum(int n, const double x[n])
{
    double s = 0;
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        s += x[i] * x[i];
    }
    return s;
}
