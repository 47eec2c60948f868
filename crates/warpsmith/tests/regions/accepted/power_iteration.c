// warpsmith: size n=1000 it=20
// With random matrices the results say nothing after a few steps. Of sizes beyond such ones some are run, not all.
// says: 9999 more sizes: rounding errors grow beyond what can be compared
#include <math.h>
double power_iteration(int n, int it, const double A[restrict n][n], double x[restrict n], double y[restrict n])
{
    double lambda = 0;
    for (int t = 0; t < it; t++) {
        double norm = 0;
        for (int i = 0; i < n; i++) {
            double s = 0;
            for (int j = 0; j < n; j++) s += A[i][j] * x[j];
            y[i] = s;
            norm += s * s;
        }
        norm = sqrt(norm);
        for (int i = 0; i < n; i++) x[i] = y[i] / norm;
        lambda = norm;
    }
    return lambda;
}
