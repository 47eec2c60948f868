#include "types.cuh"
#include "mathx.cuh"

static __device__ __forceinline__ float cross_part(const float *a, float bx, float by, float bz, int k)
{
    return k == 0 ? a[1] * bz - a[2] * by : k == 1 ? a[2] * bx - a[0] * bz : a[0] * by - a[1] * bx;
}

/*# qrot_1_load_1 metadata
Data type = quat
Data location = shared
Other parameters = tx, bx
LSPATTERN = start "tx*4", block "4", stride "4", count 1, noreg 0
#*/
__device__ void d_qrot_1_load_1(quat q, float *s, int tx, int bx)
{
    for (int i = 0; i < 4; i++) s[APLS + i] = q[(bx * QROT_1_BX + tx) * 4 + i];
}
/*# qrot_1_load_2 metadata
Data type = vec3
Data location = shared
Other parameters = tx, bx
LSPATTERN = start "tx*3", block "1", stride "1", count 3, noreg 0
#*/
__device__ void d_qrot_1_load_2(vec3 v, float *s, int tx, int bx)
{
    for (int i = 0; i < 3; i++) s[APLS + i] = v[(bx * QROT_1_BX + tx) * 3 + i];
}
__device__ void d_qrot_1_compute(float *q, float *v, float *r, int tx)
{
    const float *p = q + APIN0;
    float w = p[0];
    const float *u = p + 1;
    float t0 = 2.0f * cross_part(u, v[APIN1], v[APIN1 + 1], v[APIN1 + 2], 0);
    float t1 = 2.0f * cross_part(u, v[APIN1], v[APIN1 + 1], v[APIN1 + 2], 1);
    float t2 = 2.0f * cross_part(u, v[APIN1], v[APIN1 + 1], v[APIN1 + 2], 2);
    r[APOUT + 0] = v[APIN1 + 0] + w * t0 + cross_part(u, t0, t1, t2, 0);
    r[APOUT + 1] = v[APIN1 + 1] + w * t1 + cross_part(u, t0, t1, t2, 1);
    r[APOUT + 2] = v[APIN1 + 2] + w * t2 + cross_part(u, t0, t1, t2, 2);
}
/*# qrot_1_save metadata
Data type = vec3
Data location = shared
Other parameters = tx, bx
LSPATTERN = start "tx*3", block "1", stride "1", count 3, noreg 0
#*/
__device__ void d_qrot_1_save(float *s, vec3 r, int tx, int bx)
{
    for (int i = 0; i < 3; i++) r[(bx * QROT_1_BX + tx) * 3 + i] = s[APLS + i];
}
/*# qrot_1 metadata
GX = size
GY = 1
GZ = 1
BX = size (recommended 64)
BY = 1
BZ = 1
BATCH = 1
INPATTERN 0 = start "tx*4", block "4", stride "4", count 1, noreg 0
INPATTERN 1 = start "tx*3", block "1", stride "1", count 3, noreg 0
OUTPATTERN = start "tx*3", block "3", stride "0", count 1, noreg 0
#*/
__global__ void cu_qrot_1(quat q, vec3 v, vec3 r) {}

/*# qrot_3_load_1 metadata
Data type = quat
Data location = shared
Other parameters = tx, ty, bx
#*/
__device__ void d_qrot_3_load_1(quat q, float *s, int tx, int ty, int bx)
{
    for (int i = ty * 3 + tx; i < 4 * QROT_3_BY; i += 3 * QROT_3_BY) s[i] = q[bx * QROT_3_BY * 4 + i];
}
/*# qrot_3_load_2 metadata
Data type = vec3
Data location = shared
Other parameters = tx, ty, bx
#*/
__device__ void d_qrot_3_load_2(vec3 v, float *s, int tx, int ty, int bx)
{
    s[ty * 3 + tx] = v[bx * QROT_3_BY * 3 + ty * 3 + tx];
}
__device__ void d_qrot_3_compute(float *q, float *v, float *r, int tx, int ty)
{
    const int qo = ty * 4, vo = ty * 3;
    float t[3];
    for (int k = 0; k < 3; k++) t[k] = 2.0f * cross_part(q + qo + 1, v[vo], v[vo + 1], v[vo + 2], k);
    r[ty * 3 + tx] = v[vo + tx] + q[qo] * (tx == 0 ? t[0] : tx == 1 ? t[1] : t[2]) + cross_part(q + qo + 1, t[0], t[1], t[2], tx);
}
/*# qrot_3_save metadata
Data type = vec3
Data location = shared
Other parameters = tx, ty, bx
#*/
__device__ void d_qrot_3_save(float *s, vec3 r, int tx, int ty, int bx)
{
    r[bx * QROT_3_BY * 3 + ty * 3 + tx] = s[ty * 3 + tx];
}
/*# qrot_3 metadata
GX = size
GY = 1
GZ = 1
BX = 3
BY = size (recommended 32)
BZ = 1
BATCH = 1
#*/
__global__ void cu_qrot_3(quat q, vec3 v, vec3 r) {}
