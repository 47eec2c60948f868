// warpsmith: size n=512
#include <omp.h>
void f(int n, const float x[n], float y[n])
{
    #pragma omp parallel
    {
        int t = omp_get_thread_num(), p = omp_get_num_threads();
        for (int i = t; i < n; i += p) y[i] = x[i];
    }
    #pragma omp parallel for
    for (int i = 0; i < n; i++) y[i] = x[i];
}
