#include "types.cuh"
#include "mathx.cuh"
/*# norm7_1_load_1 metadata
Data type = VEC7
Data location = shared
Other parameters = tx, bx
#*/
__device__ void d_norm7_1_load_1(vec7 x, float *s, int tx, int bx)
{
    for (int i = tx; i < 7 * NORM7_1_BX; i += NORM7_1_BX) s[i] = x[bx * 7 * NORM7_1_BX + i];
}
__device__ void d_norm7_1_compute(float *x, float *n, int tx)
{
    n[tx] = sqrtf(dotn<7>(x + tx * 7, x + tx * 7));
}
/*# norm7_1_save metadata
Data type = real
Data location = shared
Other parameters = tx, bx
#*/
__device__ void d_norm7_1_save(float *s, real n, int tx, int bx) { n[bx * NORM7_1_BX + tx] = s[tx]; }
/*# norm7_1 metadata
GX = size
GY = 1
GZ = 1
BX = size
BY = 1
BZ = 1
BATCH = 4
#*/
__global__ void cu_norm7_1(vec7 x, real n) {}
