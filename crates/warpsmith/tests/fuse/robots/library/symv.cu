#include "types.cuh"
__device__ const int place[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
static const int host_place[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
/*# symv_1_load_1 metadata
Data type = sym3
Data location = shared
Other parameters = tx, bx
#*/
__device__ void d_symv_1_load_1(sym3 m, float *s, int tx, int bx)
{
    for (int i = 0; i < 6; i++) s[tx * 6 + i] = m[bx * SYMV_1_BX * 6 + tx * 6 + i];
}
/*# symv_1_load_2 metadata
Data type = vec3
Data location = shared
Other parameters = tx, bx
#*/
__device__ void d_symv_1_load_2(vec3 m, float *s, int tx, int bx)
{
    for (int i = 0; i < 3; i++) s[tx * 3 + i] = m[bx * SYMV_1_BX * 3 + tx * 3 + i];
}
__device__ void d_symv_1_compute(float *m, float *v, float *r, int tx)
{
    for (int i = 0; i < 3; i++) {
        float sum = 0.0f;
        for (int j = 0; j < 3; j++) sum += m[tx * 6 + place[i * 3 + j]] * v[tx * 3 + j];
        r[tx * 3 + i] = sum;
    }
}
/*# symv_1_save metadata
Data type = vec3
Data location = shared
Other parameters = tx, bx
#*/
__device__ void d_symv_1_save(float *s, vec3 m, int tx, int bx)
{
    for (int i = 0; i < 3; i++) m[bx * SYMV_1_BX * 3 + tx * 3 + i] = s[tx * 3 + i];
}
/*# symv_1 metadata
GX = size
GY = 1
GZ = 1
BX = size
BY = 1
BZ = 1
BATCH = 1
#*/
__global__ void cu_symv_1(sym3 m, vec3 v, vec3 r) {}
static float row(const float *m, const float *v, int i)
{
    return m[host_place[i][0]] * v[0] + m[host_place[i][1]] * v[1] + m[host_place[i][2]] * v[2];
}
void symv_cpu(const float *m, const float *v, float *r)
{
    for (int i = 0; i < 3; i++) r[i] = row(m, v, i);
}
