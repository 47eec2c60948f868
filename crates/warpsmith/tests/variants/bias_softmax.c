// warpsmith: size n=2048 m=512
// expect: bind i
#include <math.h>
void bias_softmax(int n, int m, const float a[n][m], const float bias[m], float out[n][m])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float top = a[i][0] + bias[0];
        for (int j = 1; j < m; j++)
            top = fmaxf(top, a[i][j] + bias[j]);
        float sum = 0.0f;
        for (int j = 0; j < m; j++) {
            out[i][j] = expf(a[i][j] + bias[j] - top);
            sum += out[i][j];
        }
        for (int j = 0; j < m; j++)
            out[i][j] /= sum;
    }
}
