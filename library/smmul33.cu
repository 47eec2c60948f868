// A 3x3 matrix times a scalar: C = s A.

#include "types.cuh"

// One thread an element.

/*# smmul33_1_load_1 metadata
Data type = matrix3x3
Data location = shared
Other parameters = tx, bx
LSPATTERN = start "tx", block "1", stride "SMMUL33_1_BX", count 9, noreg 0
#*/
__device__ inline void d_smmul33_1_load_1(matrix3x3 A, float *s_A, int tx, int bx)
{
    matrix3x3 block_A = A + (size_t)bx * 9 * SMMUL33_1_BX;
    #pragma unroll
    for (int i = 0; i < 9; i++) s_A[i * SMMUL33_1_BX + tx] = block_A[i * SMMUL33_1_BX + tx];
}

/*# smmul33_1_load_2 metadata
Data type = scalar
Data location = shared
Other parameters = tx, bx
LSPATTERN = start "tx", block "1", stride "SMMUL33_1_BX", count 1, noreg 0
#*/
__device__ inline void d_smmul33_1_load_2(scalar s, float *s_s, int tx, int bx)
{
    scalar block_s = s + (size_t)bx * SMMUL33_1_BX;
    s_s[tx] = block_s[tx];
}

__device__ inline void d_smmul33_1_compute(float *A, float *s, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[tx * 9 + i] = s[tx] * A[tx * 9 + i];
}

/*# smmul33_1_save metadata
Data type = matrix3x3
Data location = shared
Other parameters = tx, bx
LSPATTERN = start "tx", block "1", stride "SMMUL33_1_BX", count 9, noreg 0
#*/
__device__ inline void d_smmul33_1_save(float *s_C, matrix3x3 C, int tx, int bx)
{
    matrix3x3 block_C = C + (size_t)bx * 9 * SMMUL33_1_BX;
    #pragma unroll
    for (int i = 0; i < 9; i++) block_C[i * SMMUL33_1_BX + tx] = s_C[i * SMMUL33_1_BX + tx];
}

/*# smmul33_1 metadata
GX = size
GY = 1
GZ = 1
BX = size (recommended 128)
BY = 1
BZ = 1
BATCH = size (recommended 1)
INPATTERN 0 = start "tx*9", block "1", stride "1", count 9, noreg 0
INPATTERN 1 = start "tx", block "1", stride "1", count 1, noreg 0
OUTPATTERN = start "tx*9", block "1", stride "1", count 9, noreg 0
#*/
__global__ void cu_smmul33_1(matrix3x3 A, scalar s, matrix3x3 C) {}

// 3 threads an element, each for a row.

/*# smmul33_2_load_1 metadata
Data type = matrix3x3
Data location = shared
Other parameters = tx, ty, bx
LSPATTERN = start "ty*3+tx", block "1", stride "3*SMMUL33_2_BY", count 3, noreg 0
#*/
__device__ inline void d_smmul33_2_load_1(matrix3x3 A, float *s_A, int tx, int ty, int bx)
{
    matrix3x3 block_A = A + (size_t)bx * 9 * SMMUL33_2_BY;
    #pragma unroll
    for (int i = 0; i < 3; i++) s_A[i * 3 * SMMUL33_2_BY + ty * 3 + tx] = block_A[i * 3 * SMMUL33_2_BY + ty * 3 + tx];
}

/*# smmul33_2_load_2 metadata
Data type = scalar
Data location = shared
Other parameters = tx, ty, bx
#*/
__device__ inline void d_smmul33_2_load_2(scalar s, float *s_s, int tx, int ty, int bx)
{
    scalar block_s = s + (size_t)bx * SMMUL33_2_BY;
    if (tx == 0) s_s[ty] = block_s[ty];
}

__device__ inline void d_smmul33_2_compute(float *A, float *s, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++) C[ty * 9 + tx * 3 + j] = s[ty] * A[ty * 9 + tx * 3 + j];
}

/*# smmul33_2_save metadata
Data type = matrix3x3
Data location = shared
Other parameters = tx, ty, bx
LSPATTERN = start "ty*3+tx", block "1", stride "3*SMMUL33_2_BY", count 3, noreg 0
#*/
__device__ inline void d_smmul33_2_save(float *s_C, matrix3x3 C, int tx, int ty, int bx)
{
    matrix3x3 block_C = C + (size_t)bx * 9 * SMMUL33_2_BY;
    #pragma unroll
    for (int i = 0; i < 3; i++) block_C[i * 3 * SMMUL33_2_BY + ty * 3 + tx] = s_C[i * 3 * SMMUL33_2_BY + ty * 3 + tx];
}

/*# smmul33_2 metadata
GX = size
GY = 1
GZ = 1
BX = 3
BY = size (recommended 64)
BZ = 1
BATCH = size (recommended 1)
INPATTERN 0 = start "ty*9+tx*3", block "1", stride "1", count 3, noreg 0
INPATTERN 1 = start "ty", block "1", stride "1", count 1, noreg 0
OUTPATTERN = start "ty*9+tx*3", block "1", stride "1", count 3, noreg 0
#*/
__global__ void cu_smmul33_2(matrix3x3 A, scalar s, matrix3x3 C) {}
