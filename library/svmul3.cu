// A vector times a scalar: w = s v.

#include "types.cuh"

// One thread an element.

/*# svmul3_1_load_1 metadata
Data type = vector3
Data location = shared
Other parameters = tx, bx
LSPATTERN = start "tx", block "1", stride "SVMUL3_1_BX", count 3, noreg 0
#*/
__device__ inline void d_svmul3_1_load_1(vector3 v, float *s_v, int tx, int bx)
{
    vector3 block_v = v + (size_t)bx * 3 * SVMUL3_1_BX;
    #pragma unroll
    for (int i = 0; i < 3; i++) s_v[i * SVMUL3_1_BX + tx] = block_v[i * SVMUL3_1_BX + tx];
}

/*# svmul3_1_load_2 metadata
Data type = scalar
Data location = shared
Other parameters = tx, bx
LSPATTERN = start "tx", block "1", stride "SVMUL3_1_BX", count 1, noreg 0
#*/
__device__ inline void d_svmul3_1_load_2(scalar s, float *s_s, int tx, int bx)
{
    scalar block_s = s + (size_t)bx * SVMUL3_1_BX;
    s_s[tx] = block_s[tx];
}

__device__ inline void d_svmul3_1_compute(float *v, float *s, float *w, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++) w[tx * 3 + i] = s[tx] * v[tx * 3 + i];
}

/*# svmul3_1_save metadata
Data type = vector3
Data location = shared
Other parameters = tx, bx
LSPATTERN = start "tx", block "1", stride "SVMUL3_1_BX", count 3, noreg 0
#*/
__device__ inline void d_svmul3_1_save(float *s_w, vector3 w, int tx, int bx)
{
    vector3 block_w = w + (size_t)bx * 3 * SVMUL3_1_BX;
    #pragma unroll
    for (int i = 0; i < 3; i++) block_w[i * SVMUL3_1_BX + tx] = s_w[i * SVMUL3_1_BX + tx];
}

/*# svmul3_1 metadata
GX = size
GY = 1
GZ = 1
BX = size (recommended 128)
BY = 1
BZ = 1
BATCH = size (recommended 1)
INPATTERN 0 = start "tx*3", block "1", stride "1", count 3, noreg 0
INPATTERN 1 = start "tx", block "1", stride "1", count 1, noreg 0
OUTPATTERN = start "tx*3", block "1", stride "1", count 3, noreg 0
#*/
__global__ void cu_svmul3_1(vector3 v, scalar s, vector3 w) {}

// 3 threads an element, each for an entry.

/*# svmul3_2_load_1 metadata
Data type = vector3
Data location = shared
Other parameters = tx, ty, bx
LSPATTERN = start "ty*3+tx", block "1", stride "3*SVMUL3_2_BY", count 1, noreg 0
#*/
__device__ inline void d_svmul3_2_load_1(vector3 v, float *s_v, int tx, int ty, int bx)
{
    vector3 block_v = v + (size_t)bx * 3 * SVMUL3_2_BY;
    s_v[ty * 3 + tx] = block_v[ty * 3 + tx];
}

/*# svmul3_2_load_2 metadata
Data type = scalar
Data location = shared
Other parameters = tx, ty, bx
#*/
__device__ inline void d_svmul3_2_load_2(scalar s, float *s_s, int tx, int ty, int bx)
{
    scalar block_s = s + (size_t)bx * SVMUL3_2_BY;
    if (tx == 0) s_s[ty] = block_s[ty];
}

__device__ inline void d_svmul3_2_compute(float *v, float *s, float *w, int tx, int ty)
{
    w[ty * 3 + tx] = s[ty] * v[ty * 3 + tx];
}

/*# svmul3_2_save metadata
Data type = vector3
Data location = shared
Other parameters = tx, ty, bx
LSPATTERN = start "ty*3+tx", block "1", stride "3*SVMUL3_2_BY", count 1, noreg 0
#*/
__device__ inline void d_svmul3_2_save(float *s_w, vector3 w, int tx, int ty, int bx)
{
    vector3 block_w = w + (size_t)bx * 3 * SVMUL3_2_BY;
    block_w[ty * 3 + tx] = s_w[ty * 3 + tx];
}

/*# svmul3_2 metadata
GX = size
GY = 1
GZ = 1
BX = 3
BY = size (recommended 64)
BZ = 1
BATCH = size (recommended 1)
INPATTERN 0 = start "ty*3+tx", block "1", stride "1", count 1, noreg 0
INPATTERN 1 = start "ty", block "1", stride "1", count 1, noreg 0
OUTPATTERN = start "ty*3+tx", block "1", stride "1", count 1, noreg 0
#*/
__global__ void cu_svmul3_2(vector3 v, scalar s, vector3 w) {}
