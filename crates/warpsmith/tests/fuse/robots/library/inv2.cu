#include "types.cuh"
#include "mathx.cuh"
__device__ inline two halves(const float *m) { two t; t.a = m[0] * m[3]; t.b = m[1] * m[2]; return t; }
/*# inv2_a_load_1 metadata
Data type = mat2
Data location = shared
Other parameters = tx, bx
#*/
__device__ void d_inv2_a_load_1(mat2 m, float *s, int tx, int bx)
{
    for (int i = 0; i < 4; i++) s[tx * 4 + i] = m[(bx * INV2_A_BX + tx) * 4 + i];
}
__device__ void d_inv2_a_compute(float *m, float *r, int tx)
{
    two t = halves(m + tx * 4);
    float d = 1.0f / (t.a - t.b + 2.0f);
    r[tx * 4 + 0] = m[tx * 4 + 3] * d;
    r[tx * 4 + 1] = -m[tx * 4 + 1] * d;
    r[tx * 4 + 2] = -m[tx * 4 + 2] * d;
    r[tx * 4 + 3] = m[tx * 4 + 0] * d;
}
/*# inv2_a_save metadata
Data type = mat2
Data location = shared
Other parameters = tx, bx
#*/
__device__ void d_inv2_a_save(float *s, mat2 m, int tx, int bx)
{
    for (int i = 0; i < 4; i++) m[(bx * INV2_A_BX + tx) * 4 + i] = s[tx * 4 + i];
}
/*# inv2_a metadata
GX = size
GY = 1
GZ = 1
BX = size
BY = 1
BZ = 1
BATCH = 2
#*/
__global__ void cu_inv2_a(mat2 m, mat2 r) {}
