// Euclidean norm of a vector: s = |v|.

#include "types.cuh"

// One thread an element.

/*# venorm3_1_load_1 metadata
Data type = vector3
Data location = shared
Other parameters = tx, bx
LSPATTERN = start "tx", block "1", stride "VENORM3_1_BX", count 3, noreg 0
#*/
__device__ inline void d_venorm3_1_load_1(vector3 v, float *s_v, int tx, int bx)
{
    vector3 block_v = v + (size_t)bx * 3 * VENORM3_1_BX;
    #pragma unroll
    for (int i = 0; i < 3; i++) s_v[i * VENORM3_1_BX + tx] = block_v[i * VENORM3_1_BX + tx];
}

__device__ inline void d_venorm3_1_compute(float *v, float *s, int tx)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += v[tx * 3 + k] * v[tx * 3 + k];
    s[tx] = sqrtf(sum);
}

/*# venorm3_1_save metadata
Data type = scalar
Data location = shared
Other parameters = tx, bx
LSPATTERN = start "tx", block "1", stride "VENORM3_1_BX", count 1, noreg 0
#*/
__device__ inline void d_venorm3_1_save(float *s_s, scalar s, int tx, int bx)
{
    scalar block_s = s + (size_t)bx * VENORM3_1_BX;
    block_s[tx] = s_s[tx];
}

/*# venorm3_1 metadata
GX = size
GY = 1
GZ = 1
BX = size (recommended 128)
BY = 1
BZ = 1
BATCH = size (recommended 1)
INPATTERN 0 = start "tx*3", block "1", stride "1", count 3, noreg 0
OUTPATTERN = start "tx", block "1", stride "1", count 1, noreg 0
#*/
__global__ void cu_venorm3_1(vector3 v, scalar s) {}
