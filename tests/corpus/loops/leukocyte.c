#include <math.h>
#define PI 3.14159
#define NPOINTS 150
#define NCIRCLES 7
#define MAX_RAD (12 * 2)

/* score of each pixel: mean over variance of the gradient along circles around it */
void ellipsematching(const float *grad_x, const float *grad_y, const float *sin_angle, const float *cos_angle,
                     const int *tX, const int *tY, float *gicov, int grad_m, int grad_n)
{
    int i, j, k, n, x, y;
    float Grad[NPOINTS];
#pragma omp parallel for private(i, j, k, n, x, y, Grad)
    for (i = MAX_RAD; i < grad_n - MAX_RAD; i++) {
        for (j = MAX_RAD; j < grad_m - MAX_RAD; j++) {
            float max_GICOV = 0;
            for (k = 0; k < NCIRCLES; k++) {
                float sum = 0.f, var = 0.f, mean;
                for (n = 0; n < NPOINTS; n++) {
                    y = j + tY[k * NPOINTS + n];
                    x = i + tX[k * NPOINTS + n];
                    if (y < 0) y = 0;
                    if (y >= grad_m) y = grad_m - 1;
                    if (x < 0) x = 0;
                    if (x >= grad_n) x = grad_n - 1;
                    Grad[n] = grad_x[y * grad_n + x] * cos_angle[n] + grad_y[y * grad_n + x] * sin_angle[n];
                    sum += Grad[n];
                }
                mean = sum / (float)NPOINTS;
                for (n = 0; n < NPOINTS; n++) {
                    float d = Grad[n] - mean;
                    var += d * d;
                }
                var = var / (float)(NPOINTS - 1);
                if (var > 0 && mean * mean / var > max_GICOV) max_GICOV = mean * mean / var;
            }
            gicov[j * grad_n + i] = max_GICOV;
        }
    }
}
