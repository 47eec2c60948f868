// The smallest and the largest value of an array.
// warpsmith: size n=16777216

#include <float.h>

void minmax(long n, const double x[n], double *least, double *most)
{
    double lo = DBL_MAX, hi = -DBL_MAX;

    #pragma omp parallel for reduction(min: lo) reduction(max: hi)
    for (long i = 0; i < n; i++) {
        lo = x[i] < lo ? x[i] : lo;
        hi = x[i] > hi ? x[i] : hi;
    }
    *least = lo;
    *most = hi;
}
