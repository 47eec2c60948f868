// warpsmith: size n=512
double f(int n, const double x[n], double y[n])
{
    double s = 0;
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        s += x[i];
        y[i] = s;
    }
    return s;
}
