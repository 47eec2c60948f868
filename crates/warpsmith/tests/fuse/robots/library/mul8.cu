#include "types.cuh"
/*# mul8_c_load_1 metadata
Data type = mat8
Data location = shared
Other parameters = tx, ty, tz, bx
#*/
__device__ void d_mul8_c_load_1(mat8 g, float *s, int tx, int ty, int tz, int bx)
{
    for (int i = (tz * MUL8_C_BY + ty) * MUL8_C_BX + tx; i < 64 * MUL8_C_BZ; i += 64 * MUL8_C_BZ) s[i] = g[bx * 64 * MUL8_C_BZ + i];
}
__device__ void d_mul8_c_compute(float *a, float *b, float *c, int tx, int ty, int tz)
{
    float s = 0;
    for (int k = 0; k < 8; k++) s += a[tz * 64 + ty * 8 + k] * b[tz * 64 + k * 8 + tx];
    c[tz * 64 + ty * 8 + tx] = s;
}
/*# mul8_c_save metadata
Data type = mat8
Data location = shared
Other parameters = tx, ty, tz, bx
#*/
__device__ void d_mul8_c_save(float *s, mat8 g, int tx, int ty, int tz, int bx)
{
    for (int i = (tz * MUL8_C_BY + ty) * MUL8_C_BX + tx; i < 64 * MUL8_C_BZ; i += 64 * MUL8_C_BZ) g[bx * 64 * MUL8_C_BZ + i] = s[i];
}
/*# mul8_c metadata
GX = size
GY = 1
GZ = 1
BX = 8
BY = 8
BZ = size
BATCH = 1
#*/
__global__ void cu_mul8_c(mat8 a, mat8 b, mat8 c) {}
