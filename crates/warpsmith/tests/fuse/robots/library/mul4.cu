#include "types.cuh"
#define N4 4
#define AT(m, r, c) m[(r) * N4 + (c)]

/*# mul4_cell_load_1 metadata
Data type = mat4
Data location = shared
Other parameters = tx, ty, tz, bx
LSPATTERN = start "tz*16+ty*4+tx", block "1", stride "1", count 1, noreg 0
#*/
__device__ void d_mul4_cell_load_1(mat4 a, float *s, int tx, int ty, int tz, int bx)
{
    const int at = (tz * 4 + ty) * 4 + tx;
    s[at] = a[bx * 16 * MUL4_CELL_BZ + at];
}
__device__ void d_mul4_cell_compute(float *a, float *b, float *c, int tx, int ty, int tz)
{
    float sum = 0.0f;
    for (int k = 0; k < N4; k++) sum += a[tz * 16 + ty * 4 + k] * b[tz * 16 + k * 4 + tx];
    c[tz * 16 + ty * 4 + tx] = sum;
}
/*# mul4_cell_save metadata
Data type = mat4
Data location = shared
Other parameters = tx, ty, tz, bx
#*/
__device__ void d_mul4_cell_save(float *s, mat4 c, int tx, int ty, int tz, int bx)
{
    const int at = (tz * 4 + ty) * 4 + tx;
    c[bx * 16 * MUL4_CELL_BZ + at] = s[at];
}
/*# mul4_cell metadata
GX = size
GY = 1
GZ = 1
BX = 4
BY = 4
BZ = size (recommended 8)
BATCH = 1
INPATTERN 0 = start "tz*16+ty*4", block "4", stride "0", count 1, noreg 0
INPATTERN 1 = start "tz*16+tx", block "1", stride "4", count 4, noreg 0
OUTPATTERN = start "tz*16+ty*4+tx", block "1", stride "1", count 1, noreg 0
#*/
__global__ void cu_mul4_cell(mat4 a, mat4 b, mat4 c) {}

/*# mul4_row_load_1 metadata
Data type = mat4
Data location = shared
Other parameters = tx, ty, bx
#*/
__device__ void d_mul4_row_load_1(mat4 a, float *s, int tx, int ty, int bx)
{
    #pragma unroll
    for (int i = 0; i < 4; ++i) s[ty * 4 + tx + i * 4 * MUL4_ROW_BY] = a[bx * 16 * MUL4_ROW_BY + ty * 4 + tx + i * 4 * MUL4_ROW_BY];
}
/*# mul4_row_load_2 metadata
Data type = mat4
Data location = shared
Other parameters = tx, ty, bx
#*/
__device__ void d_mul4_row_load_2(mat4 a, float *s, int tx, int ty, int bx)
{
    #pragma unroll
    for (int i = 0; i < 4; ++i) s[ty * 4 + tx + i * 4 * MUL4_ROW_BY] = a[bx * 16 * MUL4_ROW_BY + ty * 4 + tx + i * 4 * MUL4_ROW_BY];
}
__device__ void d_mul4_row_compute(float *a, float *b, float *c, int tx, int ty)
{
    float *row = a + ty * 16 + tx * 4;
    for (int j = 0; j < N4; j++) {
        float sum = 0.0f;
        for (int k = 0; k < N4; k++) sum += row[k] * b[ty * 16 + k * 4 + j];
        c[ty * 16 + tx * 4 + j] = sum;
    }
}
/*# mul4_row_save metadata
Data type = mat4
Data location = shared
Other parameters = tx, ty, bx
#*/
__device__ void d_mul4_row_save(float *s, mat4 a, int tx, int ty, int bx)
{
    for (int i = 0; i < 4; ++i) a[bx * 16 * MUL4_ROW_BY + ty * 4 + tx + i * 4 * MUL4_ROW_BY] = s[ty * 4 + tx + i * 4 * MUL4_ROW_BY];
}
/*# mul4_row metadata
GX = size
GY = 1
GZ = 1
BX = 4
BY = size
BZ = 1
BATCH = size (recommended 2)
#*/
__global__ void cu_mul4_row(mat4 a, mat4 b, mat4 c) {}

/*# mul4_1_load_1 metadata
Data type = mat4
Data location = shared
Other parameters = tx, bx
#*/
__device__ void d_mul4_1_load_1(mat4 a, float *s, int tx, int bx)
{
    for (int r = 0; r < 4; r++) *(float4 *)(s + tx * 16 + r * 4) = *(const float4 *)(a + (bx * MUL4_1_BX + tx) * 16 + r * 4);
}
__device__ void d_mul4_1_compute(float *a, float *b, float *c, int tx)
{
    a += tx * 16;
    b += tx * 16;
    c += tx * 16;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            AT(c, i, j) = AT(a, i, 0) * AT(b, 0, j) + AT(a, i, 1) * AT(b, 1, j) + AT(a, i, 2) * AT(b, 2, j) + AT(a, i, 3) * AT(b, 3, j);
}
/*# mul4_1_save metadata
Data type = mat4
Data location = shared
Other parameters = tx, bx
#*/
__device__ void d_mul4_1_save(float *s, mat4 a, int tx, int bx)
{
    for (int r = 0; r < 4; r++) *(float4 *)(a + (bx * MUL4_1_BX + tx) * 16 + r * 4) = *(const float4 *)(s + tx * 16 + r * 4);
}
/*# mul4_1 metadata
GX = size
GY = 1
GZ = 1
BX = size
BY = 1
BZ = 1
BATCH = 1
#*/
__global__ void cu_mul4_1(mat4 a, mat4 b, mat4 c) {}

void mul4_cpu(const float *a, const float *b, float *c)
{
    for (int i = 0; i < N4; i++)
        for (int j = 0; j < N4; j++) {
            AT(c, i, j) = 0.0f;
            for (int k = 0; k < N4; k++) AT(c, i, j) += AT(a, i, k) * AT(b, k, j);
        }
}
