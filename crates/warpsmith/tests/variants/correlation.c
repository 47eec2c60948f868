// warpsmith: size n=2048 m=2048
// expect: bind j, accumulate mean, share i, stage data#1 at k
#include <math.h>
void correlation(int n, int m, float data[n][m], float corr[m][m], float mean[m], float stddev[m]) {
    #pragma omp parallel for
    for (int j = 0; j < m; j++) {
        mean[j] = 0.0f;
        for (int i = 0; i < n; i++) mean[j] += data[i][j];
        mean[j] /= n;
        stddev[j] = 0.0f;
        for (int i = 0; i < n; i++) stddev[j] += (data[i][j] - mean[j]) * (data[i][j] - mean[j]);
        stddev[j] = sqrtf(stddev[j] / n);
        stddev[j] = stddev[j] <= 0.1f ? 1.0f : stddev[j];
    }
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) data[i][j] = (data[i][j] - mean[j]) / (sqrtf((float)n) * stddev[j]);
    #pragma omp parallel for
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) {
            float s = 0;
            for (int k = 0; k < n; k++) s += data[k][i] * data[k][j];
            corr[i][j] = i == j ? 1.0f : s;
        }
}
