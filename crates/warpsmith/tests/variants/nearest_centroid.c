// warpsmith: size n=4096 k=256 d=16
// expect: bind i, share c
#include <float.h>

void nearest_centroid(int n, int k, int d, const float point[n][d], const float centre[k][d], int label[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float best = FLT_MAX;
        int which = -1;
        for (int c = 0; c < k; c++) {
            float distance = 0.0f;
            for (int j = 0; j < d; j++) {
                float t = point[i][j] - centre[c][j];
                distance += t * t;
            }
            if (distance < best) {
                best = distance;
                which = c;
            }
        }
        label[i] = which;
    }
}
