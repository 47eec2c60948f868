// Absolute value of the scalar product of two vectors: s = |u . v|.

#include "types.cuh"

// One thread an element.

/*# vvmulabs3_1_load_1 metadata
Data type = vector3
Data location = shared
Other parameters = tx, bx
LSPATTERN = start "tx", block "1", stride "VVMULABS3_1_BX", count 3, noreg 0
#*/
__device__ inline void d_vvmulabs3_1_load_1(vector3 u, float *s_u, int tx, int bx)
{
    vector3 block_u = u + (size_t)bx * 3 * VVMULABS3_1_BX;
    #pragma unroll
    for (int i = 0; i < 3; i++) s_u[i * VVMULABS3_1_BX + tx] = block_u[i * VVMULABS3_1_BX + tx];
}

/*# vvmulabs3_1_load_2 metadata
Data type = vector3
Data location = shared
Other parameters = tx, bx
LSPATTERN = start "tx", block "1", stride "VVMULABS3_1_BX", count 3, noreg 0
#*/
__device__ inline void d_vvmulabs3_1_load_2(vector3 v, float *s_v, int tx, int bx)
{
    vector3 block_v = v + (size_t)bx * 3 * VVMULABS3_1_BX;
    #pragma unroll
    for (int i = 0; i < 3; i++) s_v[i * VVMULABS3_1_BX + tx] = block_v[i * VVMULABS3_1_BX + tx];
}

__device__ inline void d_vvmulabs3_1_compute(float *u, float *v, float *s, int tx)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += u[tx * 3 + k] * v[tx * 3 + k];
    s[tx] = fabsf(sum);
}

/*# vvmulabs3_1_save metadata
Data type = scalar
Data location = shared
Other parameters = tx, bx
LSPATTERN = start "tx", block "1", stride "VVMULABS3_1_BX", count 1, noreg 0
#*/
__device__ inline void d_vvmulabs3_1_save(float *s_s, scalar s, int tx, int bx)
{
    scalar block_s = s + (size_t)bx * VVMULABS3_1_BX;
    block_s[tx] = s_s[tx];
}

/*# vvmulabs3_1 metadata
GX = size
GY = 1
GZ = 1
BX = size (recommended 128)
BY = 1
BZ = 1
BATCH = size (recommended 1)
INPATTERN 0 = start "tx*3", block "1", stride "1", count 3, noreg 0
INPATTERN 1 = start "tx*3", block "1", stride "1", count 3, noreg 0
OUTPATTERN = start "tx", block "1", stride "1", count 1, noreg 0
#*/
__global__ void cu_vvmulabs3_1(vector3 u, vector3 v, scalar s) {}
