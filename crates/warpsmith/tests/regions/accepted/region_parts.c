// warpsmith: size n=512
double f(int n, const double x[n])
{
    double total = 0;
    #pragma omp parallel
    {
        double part = 0;
        #pragma omp for
        for (int i = 0; i < n; i++) part += x[i];
        #pragma omp atomic
        total += part;
    }
    return total;
}
