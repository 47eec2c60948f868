// warpsmith: size b=16 n=1024 d=64
// expect: distribute j, distribute i, distribute h, stage q at l, stage k at l, share j#2, stage v at j#4
// Scores, softmax and the weighted sum of each row in the body of one nest.
#include <math.h>
void attention(int b, int n, int d, const float q[b][n][d], const float k[b][n][d],
               const float v[b][n][d], float s[b][n][n], float o[b][n][d])
{
    #pragma omp parallel for collapse(2)
    for (int h = 0; h < b; h++)
        for (int i = 0; i < n; i++) {
            float top = -INFINITY;
            for (int j = 0; j < n; j++) {
                float t = 0.0f;
                for (int l = 0; l < d; l++)
                    t += q[h][i][l] * k[h][j][l];
                s[h][i][j] = t * 0.125f;
                if (s[h][i][j] > top)
                    top = s[h][i][j];
            }
            float sum = 0.0f;
            for (int j = 0; j < n; j++) {
                s[h][i][j] = expf(s[h][i][j] - top);
                sum += s[h][i][j];
            }
            for (int l = 0; l < d; l++) {
                float t = 0.0f;
                for (int j = 0; j < n; j++)
                    t += s[h][i][j] * v[h][j][l];
                o[h][i][l] = t / sum;
            }
        }
}
