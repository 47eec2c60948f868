// warpsmith: size n=512
#include <omp.h>
void f(int n, const float x[n], float y[n], double *t)
{
    double t0 = omp_get_wtime();
    #pragma omp parallel for
    for (int i = 0; i < n; i++) y[i] = x[i];
    *t = omp_get_wtime() - t0;
}
