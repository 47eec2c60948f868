// A scalar times the 3x3 identity: C = s I.

#include "types.cuh"

// One thread an element.

/*# smimul33_1_load_1 metadata
Data type = scalar
Data location = shared
Other parameters = tx, bx
LSPATTERN = start "tx", block "1", stride "SMIMUL33_1_BX", count 1, noreg 0
#*/
__device__ inline void d_smimul33_1_load_1(scalar s, float *s_s, int tx, int bx)
{
    scalar block_s = s + (size_t)bx * SMIMUL33_1_BX;
    s_s[tx] = block_s[tx];
}

__device__ inline void d_smimul33_1_compute(float *s, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[tx * 9 + i] = i % 4 == 0 ? s[tx] : 0.0f;
}

/*# smimul33_1_save metadata
Data type = matrix3x3
Data location = shared
Other parameters = tx, bx
LSPATTERN = start "tx", block "1", stride "SMIMUL33_1_BX", count 9, noreg 0
#*/
__device__ inline void d_smimul33_1_save(float *s_C, matrix3x3 C, int tx, int bx)
{
    matrix3x3 block_C = C + (size_t)bx * 9 * SMIMUL33_1_BX;
    #pragma unroll
    for (int i = 0; i < 9; i++) block_C[i * SMIMUL33_1_BX + tx] = s_C[i * SMIMUL33_1_BX + tx];
}

/*# smimul33_1 metadata
GX = size
GY = 1
GZ = 1
BX = size (recommended 128)
BY = 1
BZ = 1
BATCH = size (recommended 1)
INPATTERN 0 = start "tx", block "1", stride "1", count 1, noreg 0
OUTPATTERN = start "tx*9", block "1", stride "1", count 9, noreg 0
#*/
__global__ void cu_smimul33_1(scalar s, matrix3x3 C) {}

// 3 threads an element, each for a row.

/*# smimul33_2_load_1 metadata
Data type = scalar
Data location = shared
Other parameters = tx, ty, bx
#*/
__device__ inline void d_smimul33_2_load_1(scalar s, float *s_s, int tx, int ty, int bx)
{
    scalar block_s = s + (size_t)bx * SMIMUL33_2_BY;
    if (tx == 0) s_s[ty] = block_s[ty];
}

__device__ inline void d_smimul33_2_compute(float *s, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++) C[ty * 9 + tx * 3 + j] = j == tx ? s[ty] : 0.0f;
}

/*# smimul33_2_save metadata
Data type = matrix3x3
Data location = shared
Other parameters = tx, ty, bx
LSPATTERN = start "ty*3+tx", block "1", stride "3*SMIMUL33_2_BY", count 3, noreg 0
#*/
__device__ inline void d_smimul33_2_save(float *s_C, matrix3x3 C, int tx, int ty, int bx)
{
    matrix3x3 block_C = C + (size_t)bx * 9 * SMIMUL33_2_BY;
    #pragma unroll
    for (int i = 0; i < 3; i++) block_C[i * 3 * SMIMUL33_2_BY + ty * 3 + tx] = s_C[i * 3 * SMIMUL33_2_BY + ty * 3 + tx];
}

/*# smimul33_2 metadata
GX = size
GY = 1
GZ = 1
BX = 3
BY = size (recommended 64)
BZ = 1
BATCH = size (recommended 1)
INPATTERN 0 = start "ty", block "1", stride "1", count 1, noreg 0
OUTPATTERN = start "ty*9+tx*3", block "1", stride "1", count 3, noreg 0
#*/
__global__ void cu_smimul33_2(scalar s, matrix3x3 C) {}
