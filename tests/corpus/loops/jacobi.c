#include <math.h>
#include <stdlib.h>
typedef double real;

void jacobi(real *u, real *unew, const real *f, int m, int n, real h2, real tol, int maxit, int *iters)
{
    real err = tol + 1.0;
    int it = 0;
    while (err > tol && it < maxit) {
        err = 0.0;
#pragma omp parallel for reduction(max : err)
        for (int i = 1; i < m - 1; i++) {
            for (int j = 1; j < n - 1; j++) {
                unew[i * n + j] = 0.25 * (u[(i - 1) * n + j] + u[(i + 1) * n + j] + u[i * n + j - 1] +
                                          u[i * n + j + 1] - h2 * f[i * n + j]);
                err = fmax(err, fabs(unew[i * n + j] - u[i * n + j]));
            }
        }
#pragma omp parallel for
        for (int i = 1; i < m - 1; i++)
            for (int j = 1; j < n - 1; j++)
                u[i * n + j] = unew[i * n + j];
        it++;
    }
    *iters = it;
}
