#include <stdlib.h>
/* the pivot of a column: largest magnitude and its row */
int find_pivot(const double *a, int n, int lda, int k)
{
    double big = -1.0;
    int piv = k;
    int i;
#pragma omp parallel for shared(big, piv)
    for (i = k; i < n; i++)
    {
        double v = a[i * lda + k];
        if (v < 0) v = -v;
#pragma omp critical
        {
            if (v > big || (v == big && i < piv))
            {
                big = v;
                piv = i;
            }
        }
    }
    return piv;
}
