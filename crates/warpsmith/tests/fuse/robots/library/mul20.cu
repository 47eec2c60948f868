#include "types.cuh"
/*# mul20_row_load_1 metadata
Data type = mat20
Data location = shared
Other parameters = tx, ty, bx
#*/
__device__ void d_mul20_row_load_1(mat20 g, float *s, int tx, int ty, int bx)
{
    for (int i = ty * MUL20_ROW_BX + tx; i < 400 * MUL20_ROW_BY; i += 20 * MUL20_ROW_BY) s[i] = g[bx * 400 * MUL20_ROW_BY + i];
}
__device__ void d_mul20_row_compute(float *a, float *b, float *c, int tx, int ty)
{
    for (int j = 0; j < 20; j++) {
        float s = 0;
        for (int k = 0; k < 20; k++) s += a[ty * 400 + tx * 20 + k] * b[ty * 400 + k * 20 + j];
        c[ty * 400 + tx * 20 + j] = s;
    }
}
/*# mul20_row_save metadata
Data type = mat20
Data location = shared
Other parameters = tx, ty, bx
#*/
__device__ void d_mul20_row_save(float *s, mat20 g, int tx, int ty, int bx)
{
    for (int i = ty * MUL20_ROW_BX + tx; i < 400 * MUL20_ROW_BY; i += 20 * MUL20_ROW_BY) g[bx * 400 * MUL20_ROW_BY + i] = s[i];
}
/*# mul20_row metadata
GX = size
GY = 1
GZ = 1
BX = 20
BY = size
BZ = 1
BATCH = 1
#*/
__global__ void cu_mul20_row(mat20 a, mat20 b, mat20 c) {}
/*# mul20_tile_load_1 metadata
Data type = mat20
Data location = shared
Other parameters = tx, ty, tz, bx
#*/
__device__ void d_mul20_tile_load_1(mat20 g, float *s, int tx, int ty, int tz, int bx)
{
    for (int i = (tz * MUL20_TILE_BY + ty) * MUL20_TILE_BX + tx; i < 400 * MUL20_TILE_BZ; i += 100 * MUL20_TILE_BZ) s[i] = g[bx * 400 * MUL20_TILE_BZ + i];
}
__device__ void d_mul20_tile_compute(float *a, float *b, float *c, int tx, int ty, int tz)
{
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            float s = 0;
            for (int k = 0; k < 20; k++) s += a[tz * 400 + (ty * 2 + i) * 20 + k] * b[tz * 400 + k * 20 + tx * 2 + j];
            c[tz * 400 + (ty * 2 + i) * 20 + tx * 2 + j] = s;
        }
}
/*# mul20_tile_save metadata
Data type = mat20
Data location = shared
Other parameters = tx, ty, tz, bx
#*/
__device__ void d_mul20_tile_save(float *s, mat20 g, int tx, int ty, int tz, int bx)
{
    for (int i = (tz * MUL20_TILE_BY + ty) * MUL20_TILE_BX + tx; i < 400 * MUL20_TILE_BZ; i += 100 * MUL20_TILE_BZ) g[bx * 400 * MUL20_TILE_BZ + i] = s[i];
}
/*# mul20_tile metadata
GX = size
GY = 1
GZ = 1
BX = 10
BY = 10
BZ = size
BATCH = 1
#*/
__global__ void cu_mul20_tile(mat20 a, mat20 b, mat20 c) {}
