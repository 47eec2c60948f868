/* Livermore kernels 1, 7 and 12 with the arrays of the old common block */
#define LOOPN 1001

double x[LOOPN], y[LOOPN], z[LOOPN + 20], u[LOOPN + 20];
double q, r, t;

void kernels(int n)
{
    int k;
    if (n > LOOPN - 7) n = LOOPN - 7;
#pragma omp parallel for
    for (k = 0; k < n; k++) {
        x[k] = q + y[k] * (r * z[k + 10] + t * z[k + 11]);
    }
#pragma omp parallel for
    for (k = 0; k < n; k++)
        x[k] = u[k] + r * (z[k] + r * y[k]) +
               t * (u[k + 3] + r * (u[k + 2] + r * u[k + 1]) +
                    t * (u[k + 6] + q * (u[k + 5] + q * u[k + 4])));
#pragma omp parallel for
    for (k = 0; k < n; k++) y[k] = z[k + 1] - z[k];
}
