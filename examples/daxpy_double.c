// y = a x + y in double precision, counting with a 64-bit integer.
// warpsmith: size n=16777216

#include <stddef.h>

void daxpy(size_t n, double a, const double x[restrict n], double y[restrict n])
{
    #pragma omp parallel for simd
    for (size_t i = 0; i < n; i++) {
        y[i] += a * x[i];
    }
}
