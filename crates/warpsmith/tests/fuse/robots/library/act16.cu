#include "types.cuh"
__device__ __forceinline__ float softplus(float x) { return x > 10.0f ? x : log1pf(expf(x)); }
/*# act16_8_load_1 metadata
Data type = mat4
Data location = shared
Other parameters = tx, ty, bx
LSPATTERN = start "ty*16+tx*2", block "2", stride "2", count 1, noreg 0
#*/
__device__ void d_act16_8_load_1(mat4 m, float *s, int tx, int ty, int bx)
{
    float2 p = *reinterpret_cast<const float2 *>(m + (bx * ACT16_8_BY + ty) * 16 + tx * 2);
    s[APLS] = p.x;
    s[APLS + 1] = p.y;
}
__device__ void d_act16_8_compute(float *m, float *r, int tx, int ty)
{
    r[APOUT] = softplus(m[APIN0]);
    r[APOUT + 1] = softplus(m[APIN0 + 1]);
}
/*# act16_8_save metadata
Data type = mat4
Data location = shared
Other parameters = tx, ty, bx
LSPATTERN = start "ty*16+tx*2", block "2", stride "2", count 1, noreg 0
#*/
__device__ void d_act16_8_save(float *s, mat4 m, int tx, int ty, int bx)
{
    m[(bx * ACT16_8_BY + ty) * 16 + tx * 2] = s[APLS];
    m[(bx * ACT16_8_BY + ty) * 16 + tx * 2 + 1] = s[APLS + 1];
}
/*# act16_8 metadata
GX = size
GY = 1
GZ = 1
BX = 8
BY = size (recommended 16)
BZ = 1
BATCH = 1
INPATTERN 0 = start "ty*16+tx*2", block "2", stride "2", count 1, noreg 1
OUTPATTERN = start "ty*16+tx*2", block "2", stride "2", count 1, noreg 0
#*/
__global__ void cu_act16_8(mat4 m, mat4 r) {}

/*# act16_2_load_1 metadata
Data type = mat4
Data location = shared
Other parameters = tx, ty, bx
#*/
__device__ void d_act16_2_load_1(mat4 m, float *s, int tx, int ty, int bx)
{
    const int t = ty * 2 + tx;
    for (int k = t; k < 16 * ACT16_2_BY; k += 2 * ACT16_2_BY) s[k] = m[(size_t)bx * 16 * ACT16_2_BY + k];
}
__device__ void d_act16_2_compute(float *m, float *r, int tx, int ty)
{
    for (int k = 0; k < 8; k++) r[ty * 16 + tx * 8 + k] = softplus(m[ty * 16 + tx * 8 + k]);
}
/*# act16_2_save metadata
Data type = mat4
Data location = shared
Other parameters = tx, ty, bx
#*/
__device__ void d_act16_2_save(float *s, mat4 m, int tx, int ty, int bx)
{
    const int t = ty * 2 + tx;
    for (int k = t; k < 16 * ACT16_2_BY; k += 2 * ACT16_2_BY) m[(size_t)bx * 16 * ACT16_2_BY + k] = s[k];
}
/*# act16_2 metadata
GX = size
GY = 1
GZ = 1
BX = 2
BY = size
BZ = 1
BATCH = 1
#*/
__global__ void cu_act16_2(mat4 m, mat4 r) {}
