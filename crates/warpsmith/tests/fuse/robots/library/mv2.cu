#include "types.cuh"
/*# mv2_2_load_1 metadata
Data type = mat2
Data location = shared
Other parameters = tx, ty, bx
#*/
__device__ void d_mv2_2_load_1(mat2 m, float *s, int tx, int ty, int bx)
{
    s[ty * 2 + tx] = m[bx * 4 * MV2_2_BY + ty * 2 + tx];
    s[ty * 2 + tx + 2 * MV2_2_BY] = m[bx * 4 * MV2_2_BY + ty * 2 + tx + 2 * MV2_2_BY];
}
/*# mv2_2_load_2 metadata
Data type = vec2
Data location = shared
Other parameters = tx, ty, bx
#*/
__device__ void d_mv2_2_load_2(vec2 m, float *s, int tx, int ty, int bx) { s[ty * 2 + tx] = m[bx * 2 * MV2_2_BY + ty * 2 + tx]; }
__device__ void d_mv2_2_compute(float *m, float *v, float *r, int tx, int ty)
{
    r[ty * 2 + tx] = m[ty * 4 + tx * 2] * v[ty * 2] + m[ty * 4 + tx * 2 + 1] * v[ty * 2 + 1];
}
/*# mv2_2_save metadata
Data type = vec2
Data location = shared
Other parameters = tx, ty, bx
#*/
__device__ void d_mv2_2_save(float *s, vec2 m, int tx, int ty, int bx) { m[bx * 2 * MV2_2_BY + ty * 2 + tx] = s[ty * 2 + tx]; }
/*# mv2_2 metadata
GX = size
GY = 1
GZ = 1
BX = 2
BY = size
BZ = 1
BATCH = 1
#*/
__global__ void cu_mv2_2(mat2 m, vec2 v, vec2 r) {}
/*# mv2_b_load_1 metadata
Data type = mat2
Data location = shared
Other parameters = tx, bx
#*/
__device__ void d_mv2_b_load_1(mat2 m, float *s, int tx, int bx)
{
    for (int i = 0; i < 4; i++) s[tx * 4 + i] = m[(bx * MV2_B_BX + tx) * 4 + i];
}
/*# mv2_b_load_2 metadata
Data type = vec2
Data location = shared
Other parameters = tx, bx
#*/
__device__ void d_mv2_b_load_2(vec2 m, float *s, int tx, int bx)
{
    for (int i = 0; i < 2; i++) s[tx * 2 + i] = m[(bx * MV2_B_BX + tx) * 2 + i];
}
__device__ void d_mv2_b_compute(float *m, float *v, float *r, int tx)
{
    float x = v[tx * 2], y = v[tx * 2 + 1];
    int k = 0;
    while (k < 2) {
        r[tx * 2 + k] = m[tx * 4 + k * 2] * x + m[tx * 4 + k * 2 + 1] * y;
        k++;
    }
}
/*# mv2_b_save metadata
Data type = vec2
Data location = shared
Other parameters = tx, bx
#*/
__device__ void d_mv2_b_save(float *s, vec2 m, int tx, int bx)
{
    for (int i = 0; i < 2; i++) m[(bx * MV2_B_BX + tx) * 2 + i] = s[tx * 2 + i];
}
/*# mv2_b metadata
GX = size
GY = 1
GZ = 1
BX = size
BY = 1
BZ = 1
BATCH = size
#*/
__global__ void cu_mv2_b(mat2 m, vec2 v, vec2 r) {}
