#include <stddef.h>
#define HALF 4
static const float coef[HALF + 1] = {-2.84722f, 1.6f, -0.2f, 0.025397f, -0.00178571f};

/* acoustic wave, eighth order; prev becomes next */
void iso3dfd(float *restrict prev, const float *restrict next, const float *restrict vel, size_t n1, size_t n2, size_t n3)
{
    size_t dimn1n2 = n1 * n2;
#pragma omp parallel for collapse(2)
    for (size_t iz = HALF; iz < n3 - HALF; iz++) {
        for (size_t iy = HALF; iy < n2 - HALF; iy++) {
            for (size_t ix = HALF; ix < n1 - HALF; ix++) {
                size_t o = iz * dimn1n2 + iy * n1 + ix;
                float value = next[o] * coef[0] * 3.0f;
                for (size_t r = 1; r <= HALF; r++) {
                    value += coef[r] * (next[o + r] + next[o - r]);
                    value += coef[r] * (next[o + r * n1] + next[o - r * n1]);
                    value += coef[r] * (next[o + r * dimn1n2] + next[o - r * dimn1n2]);
                }
                prev[o] = 2.0f * next[o] - prev[o] + value * vel[o];
            }
        }
    }
}
