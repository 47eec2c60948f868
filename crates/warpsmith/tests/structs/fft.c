#include <complex.h>
void f(int n, int h, const double complex w[h], double complex a[2 * n])
{
    #pragma omp parallel for
    for (int k = 0; k < n; k++) {
        double complex u = a[2 * k], t = w[k % h] * a[2 * k + 1];
        a[2 * k] = u + t;
        a[2 * k + 1] = u - t;
    }
}
