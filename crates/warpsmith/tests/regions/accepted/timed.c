// warpsmith: size n=512
#include <omp.h>
void f(int n, const float x[n], float y[n])
{
    double t0 = omp_get_wtime();
    #pragma omp target teams distribute parallel for simd map(to: x[0:n]) map(from: y[0:n])
    for (int i = 0; i < n; i++) y[i] = x[i] + 1.0f;
    double dt = omp_get_wtime() - t0;
    (void)dt;
}
