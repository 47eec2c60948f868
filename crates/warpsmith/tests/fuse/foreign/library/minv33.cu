#include "types.cuh"
#include <math.h>
#define AT(i, j) a[(i) * 3 + (j)]
static __device__ __forceinline__ float cofactor(const float *a, int i, int j) {
    const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
    return AT(i1, j1) * AT(i2, j2) - AT(i1, j2) * AT(i2, j1);
}
/*# minv33_1_load_1 metadata
Data type = matrix3x3
Data location = shared
Other parameters = tx, bx
#*/
__device__ void d_minv33_1_load_1(matrix3x3 g, float *s, int tx, int bx) {
    const float *from = g + bx * MINV33_1_BX * 9;
    for (int i = tx; i < 9 * MINV33_1_BX; i += MINV33_1_BX) s[i] = from[i];
}
__device__ void d_minv33_1_compute(float *m, float *out, int tx) {
    float a[9];
    for (int i = 0; i < 9; i++) a[i] = m[tx * 9 + i];
    float det = 0.0f;
    for (int j = 0; j < 3; j++) det += AT(0, j) * cofactor(a, 0, j);
    const float r = fabsf(det) > 1e-30f ? 1.0f / det : 0.0f;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) out[tx * 9 + j * 3 + i] = cofactor(a, i, j) * r;
}
/*# minv33_1_save metadata
Data type = matrix3x3
Data location = shared
Other parameters = tx, bx
#*/
__device__ void d_minv33_1_save(float *s, matrix3x3 g, int tx, int bx) {
    float *to = g + bx * MINV33_1_BX * 9;
    for (int i = tx; i < 9 * MINV33_1_BX; i += MINV33_1_BX) to[i] = s[i];
}
/*# minv33_1 metadata
GX = size
GY = 1
GZ = 1
BX = size
BY = 1
BZ = 1
BATCH = size (recommended 1)
#*/
__global__ void cu_minv33_1(matrix3x3 a, matrix3x3 b) {}
