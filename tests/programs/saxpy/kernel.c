/* The kernel of the benchmark, in a file of its own. */
#include "common.h"

void saxpy(int n, float a, const float x[n], float y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = a * x[i] + y[i];
}
