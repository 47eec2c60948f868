// warpsmith: size n=4096 m=1024
// expect: share j
#include <math.h>
void layer_norm(int n, int m, const float a[n][m], const float gain[m], const float shift[m],
                float out[n][m])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float sum = 0.0f;
        float squares = 0.0f;
        for (int j = 0; j < m; j++) {
            sum += a[i][j];
            squares += a[i][j] * a[i][j];
        }
        float mean = sum / m;
        float scale = 1.0f / sqrtf(squares / m - mean * mean + 1.0e-5f);
        for (int j = 0; j < m; j++)
            out[i][j] = (a[i][j] - mean) * scale * gain[j] + shift[j];
    }
}
