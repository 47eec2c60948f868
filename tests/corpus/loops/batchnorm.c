#include <math.h>
void batchnorm_forward(float *x, float *mean, float *variance, const float *gamma, const float *beta, int batch,
                       int filters, int spatial)
{
    float scale = 1. / (batch * spatial);
    int i, j, k;
#pragma omp parallel for private(j, k)
    for (i = 0; i < filters; ++i) {
        mean[i] = 0;
        for (j = 0; j < batch; ++j) {
            for (k = 0; k < spatial; ++k) {
                int index = j * filters * spatial + i * spatial + k;
                mean[i] += x[index];
            }
        }
        mean[i] *= scale;
    }
#pragma omp parallel for private(j, k)
    for (i = 0; i < filters; ++i) {
        variance[i] = 0;
        for (j = 0; j < batch; ++j)
            for (k = 0; k < spatial; ++k) {
                int index = j * filters * spatial + i * spatial + k;
                variance[i] += powf(x[index] - mean[i], 2);
            }
        variance[i] *= scale;
    }
    int b, f;
#pragma omp parallel for private(f, i)
    for (b = 0; b < batch; ++b) {
        for (f = 0; f < filters; ++f) {
            for (i = 0; i < spatial; ++i) {
                int index = b * filters * spatial + f * spatial + i;
                x[index] = gamma[f] * (x[index] - mean[f]) / (sqrtf(variance[f]) + .000001f) + beta[f];
            }
        }
    }
}
