#include <math.h>

/* Gaussian elimination with partial pivoting; rows are swapped in place */
void eliminate(double *A, double *b, int n)
{
    for (int k = 0; k < n - 1; k++) {
        int p = k; double best = fabs(A[k*n+k]);
        for (int i = k + 1; i < n; i++)
            if (fabs(A[i*n+k]) > best) { best = fabs(A[i*n+k]); p = i; }
        if (p != k) {
            for (int j = 0; j < n; j++) { double t = A[k*n+j]; A[k*n+j] = A[p*n+j]; A[p*n+j] = t; }
            double t = b[k]; b[k] = b[p]; b[p] = t;
        }
        #pragma omp parallel for
        for (int i = k + 1; i < n; i++) {
            double f = A[i*n+k] / A[k*n+k];
            for (int j = k; j < n; j++) A[i*n+j] -= f * A[k*n+j];
            b[i] -= f * b[k];
        }
    }
}
