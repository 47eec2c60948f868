// Kepler's equation e sin E = E - M solved for every mean anomaly by Newton's method, to
// convergence; a target loop as written for accelerators.
// warpsmith: size n=1048576

#include <math.h>

void newton(int n, double e, const double mean[n], double eccentric[n])
{
    #pragma omp target teams distribute parallel for \
        map(to: mean[0:n]) map(from: eccentric[0:n])
    for (int i = 0; i < n; i++) {
        double x = mean[i];
        double step;
        int left = 20;
        do {
            step = (x - e * sin(x) - mean[i]) / (1.0 - e * cos(x));
            x -= step;
            left--;
        } while (fabs(step) > 1e-12 && left > 0);
        eccentric[i] = x;
    }
}
