#include "types.cuh"
/*# pick7_1_load_1 metadata
Data type = vec7
Data location = shared
Other parameters = tx, bx
#*/
__device__ void d_pick7_1_load_1(vec7 x, float *s, int tx, int bx)
{
    for (int i = 0; i < 7; i++) s[tx * 7 + i] = x[(bx * PICK7_1_BX + tx) * 7 + i];
}
/*# pick7_1_load_2 metadata
Data type = real
Data location = shared
Other parameters = tx, bx
#*/
__device__ void d_pick7_1_load_2(real x, float *s, int tx, int bx) { s[tx] = x[bx * PICK7_1_BX + tx]; }
__device__ void d_pick7_1_compute(float *x, float *w, float *r, int tx)
{
    int k = (int)(w[tx] * 5.0f) % 7;
    k = k < 0 ? 0 : k;
    r[tx] = x[tx * 7 + k];
}
/*# pick7_1_save metadata
Data type = real
Data location = shared
Other parameters = tx, bx
#*/
__device__ void d_pick7_1_save(float *s, real x, int tx, int bx) { x[bx * PICK7_1_BX + tx] = s[tx]; }
/*# pick7_1 metadata
GX = size
GY = 1
GZ = 1
BX = size
BY = 1
BZ = 1
BATCH = 1
#*/
__global__ void cu_pick7_1(vec7 x, real w, real r) {}
void pick7_cpu(const float *x, const float *w, float *r)
{
    int k = (int)(w[0] * 5.0f) % 7;
    r[0] = x[k < 0 ? 0 : k];
}
