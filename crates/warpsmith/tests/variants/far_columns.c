// warpsmith: size n=16384 m=4096
// warpsmith: arg cut=1.5
// expect: accumulate count, share i#3
// The counts depend on sums of reals, which stay in their order; threads share the counts alone.
#include <math.h>
void far_columns(int n, int m, const double x[n][m], double mean[m], double sd[m], int count[m], double cut)
{
    #pragma omp parallel for
    for (int j = 0; j < m; j++) {
        double s = 0, q = 0;
        for (int i = 0; i < n; i++) s += x[i][j];
        mean[j] = s / n;
        for (int i = 0; i < n; i++) q += (x[i][j] - mean[j]) * (x[i][j] - mean[j]);
        sd[j] = sqrt(q / (n - 1));
        count[j] = 0;
        for (int i = 0; i < n; i++)
            if (fabs(x[i][j] - mean[j]) > cut * sd[j]) count[j]++;
    }
}
