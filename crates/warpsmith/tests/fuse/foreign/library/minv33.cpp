#include <math.h>
#define AT(i, j) a[(i) * 3 + (j)]
static float cofactor(const float *a, int i, int j) {
    const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
    return AT(i1, j1) * AT(i2, j2) - AT(i1, j2) * AT(i2, j1);
}
void minv33_cpu(const float *a, float *out) {
    float det = 0.0f;
    for (int j = 0; j < 3; j++) det += AT(0, j) * cofactor(a, 0, j);
    const float r = fabsf(det) > 1e-30f ? 1.0f / det : 0.0f;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) out[j * 3 + i] = cofactor(a, i, j) * r;
}
