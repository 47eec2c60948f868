#include "types.cuh"
/*# mmul44_z_load_1 metadata
Data type = matrix4x4
Data location = shared
Other parameters = tx, ty, tz, by
#*/
__device__ void d_mmul44_z_load_1(matrix4x4 g, float *s, int tx, int ty, int tz, int by) {
    s[tz * 16 + ty * 4 + tx] = g[by * 16 * MMUL44_Z_BZ + tz * 16 + ty * 4 + tx];
}
/*# mmul44_z_load_2 metadata
Data type = matrix4x4
Data location = shared
Other parameters = tx, ty, tz, by
#*/
__device__ void d_mmul44_z_load_2(matrix4x4 g, float *s, int tx, int ty, int tz, int by) {
    s[tz * 16 + ty * 4 + tx] = g[by * 16 * MMUL44_Z_BZ + tz * 16 + ty * 4 + tx];
}
__device__ void d_mmul44_z_compute(float *a, float *b, float *c, int tx, int ty, int tz) {
    float sum = 0.0f;
    for (int k = 0; k < 4; k++) sum += a[tz * 16 + ty * 4 + k] * b[tz * 16 + k * 4 + tx];
    c[tz * 16 + ty * 4 + tx] = sum;
}
/*# mmul44_z_save metadata
Data type = matrix4x4
Data location = shared
Other parameters = tx, ty, tz, by
#*/
__device__ void d_mmul44_z_save(float *s, matrix4x4 g, int tx, int ty, int tz, int by) {
    g[by * 16 * MMUL44_Z_BZ + tz * 16 + ty * 4 + tx] = s[tz * 16 + ty * 4 + tx];
}
/*# mmul44_z metadata
GX = 1
GY = size
GZ = 1
BX = 4
BY = 4
BZ = size (recommended 16)
BATCH = size (recommended 1)
INPATTERN 0 = start "tz*16+ty*4", block "4", stride "0", count 1, noreg 0
INPATTERN 1 = start "tz*16+tx", block "1", stride "4", count 4, noreg 0
OUTPATTERN = start "tz*16+ty*4+tx", block "1", stride "0", count 1, noreg 0
#*/
__global__ void cu_mmul44_z(matrix4x4 a, matrix4x4 b, matrix4x4 c) {}
