// warpsmith: size n=4096
// warpsmith: size m=128
#include <math.h>
void best(int n, int m, const int k[n], const double x[n], double lo[m], double hi[m])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int j = k[i] % m;
        #pragma omp critical
        {
            lo[j] = fmin(lo[j], x[i]);
            hi[j] = hi[j] < x[i] ? x[i] : hi[j];
        }
    }
}
