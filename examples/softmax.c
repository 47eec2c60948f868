// Softmax of every row, in the numerically safe form: the maximum is subtracted first.
// warpsmith: size n=8192 m=1024

#include <math.h>

void softmax(int n, int m, const float x[n][m], float y[n][m])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float top = -INFINITY;
        for (int j = 0; j < m; j++) {
            top = fmaxf(top, x[i][j]);
        }
        float sum = 0.0f;
        for (int j = 0; j < m; j++) {
            y[i][j] = expf(x[i][j] - top);
            sum += y[i][j];
        }
        for (int j = 0; j < m; j++) {
            y[i][j] /= sum;
        }
    }
}
