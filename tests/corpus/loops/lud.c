#include <stddef.h>
typedef double REAL;

void lud_omp(REAL *a, int size)
{
    int i, j, k;
    for (k = 0; k < size; k++) {
        REAL pivot = a[k * size + k];
#pragma omp parallel for private(i)
        for (i = k + 1; i < size; i++)
            a[i * size + k] /= pivot;
#pragma omp parallel for private(i, j) shared(a, k)
        for (i = k + 1; i < size; i++)
            for (j = k + 1; j < size; j++)
                a[i * size + j] -= a[i * size + k] * a[k * size + j];
    }
}
