// warpsmith: size n=2048 m=4096
// expect: bind i
#include <math.h>
void row_extremes(int n, int m, const float a[n][m], float low[n], float high[n], int positive[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float least = a[i][0];
        float most = a[i][0];
        int count = 0;
        for (int j = 0; j < m; j++) {
            least = fminf(least, a[i][j]);
            most = fmaxf(most, a[i][j]);
            if (a[i][j] > 0.0f)
                count += 1;
        }
        low[i] = least;
        high[i] = most;
        positive[i] = count;
    }
}
