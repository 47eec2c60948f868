// A 5x5 matrix times a scalar: C = s A.

#include "types.cuh"

// One thread an element.

/*# smmul55_1_load_1 metadata
Data type = matrix5x5
Data location = shared
Other parameters = tx, bx
LSPATTERN = start "tx", block "1", stride "SMMUL55_1_BX", count 25, noreg 0
#*/
__device__ inline void d_smmul55_1_load_1(matrix5x5 A, float *s_A, int tx, int bx)
{
    matrix5x5 block_A = A + (size_t)bx * 25 * SMMUL55_1_BX;
    #pragma unroll
    for (int i = 0; i < 25; i++) s_A[i * SMMUL55_1_BX + tx] = block_A[i * SMMUL55_1_BX + tx];
}

/*# smmul55_1_load_2 metadata
Data type = scalar
Data location = shared
Other parameters = tx, bx
LSPATTERN = start "tx", block "1", stride "SMMUL55_1_BX", count 1, noreg 0
#*/
__device__ inline void d_smmul55_1_load_2(scalar s, float *s_s, int tx, int bx)
{
    scalar block_s = s + (size_t)bx * SMMUL55_1_BX;
    s_s[tx] = block_s[tx];
}

__device__ inline void d_smmul55_1_compute(float *A, float *s, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 25; i++) C[tx * 25 + i] = s[tx] * A[tx * 25 + i];
}

/*# smmul55_1_save metadata
Data type = matrix5x5
Data location = shared
Other parameters = tx, bx
LSPATTERN = start "tx", block "1", stride "SMMUL55_1_BX", count 25, noreg 0
#*/
__device__ inline void d_smmul55_1_save(float *s_C, matrix5x5 C, int tx, int bx)
{
    matrix5x5 block_C = C + (size_t)bx * 25 * SMMUL55_1_BX;
    #pragma unroll
    for (int i = 0; i < 25; i++) block_C[i * SMMUL55_1_BX + tx] = s_C[i * SMMUL55_1_BX + tx];
}

/*# smmul55_1 metadata
GX = size
GY = 1
GZ = 1
BX = size (recommended 128)
BY = 1
BZ = 1
BATCH = size (recommended 1)
INPATTERN 0 = start "tx*25", block "1", stride "1", count 25, noreg 0
INPATTERN 1 = start "tx", block "1", stride "1", count 1, noreg 0
OUTPATTERN = start "tx*25", block "1", stride "1", count 25, noreg 0
#*/
__global__ void cu_smmul55_1(matrix5x5 A, scalar s, matrix5x5 C) {}

// 5 threads an element, each for a row.

/*# smmul55_2_load_1 metadata
Data type = matrix5x5
Data location = shared
Other parameters = tx, ty, bx
LSPATTERN = start "ty*5+tx", block "1", stride "5*SMMUL55_2_BY", count 5, noreg 0
#*/
__device__ inline void d_smmul55_2_load_1(matrix5x5 A, float *s_A, int tx, int ty, int bx)
{
    matrix5x5 block_A = A + (size_t)bx * 25 * SMMUL55_2_BY;
    #pragma unroll
    for (int i = 0; i < 5; i++) s_A[i * 5 * SMMUL55_2_BY + ty * 5 + tx] = block_A[i * 5 * SMMUL55_2_BY + ty * 5 + tx];
}

/*# smmul55_2_load_2 metadata
Data type = scalar
Data location = shared
Other parameters = tx, ty, bx
#*/
__device__ inline void d_smmul55_2_load_2(scalar s, float *s_s, int tx, int ty, int bx)
{
    scalar block_s = s + (size_t)bx * SMMUL55_2_BY;
    if (tx == 0) s_s[ty] = block_s[ty];
}

__device__ inline void d_smmul55_2_compute(float *A, float *s, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 5; j++) C[ty * 25 + tx * 5 + j] = s[ty] * A[ty * 25 + tx * 5 + j];
}

/*# smmul55_2_save metadata
Data type = matrix5x5
Data location = shared
Other parameters = tx, ty, bx
LSPATTERN = start "ty*5+tx", block "1", stride "5*SMMUL55_2_BY", count 5, noreg 0
#*/
__device__ inline void d_smmul55_2_save(float *s_C, matrix5x5 C, int tx, int ty, int bx)
{
    matrix5x5 block_C = C + (size_t)bx * 25 * SMMUL55_2_BY;
    #pragma unroll
    for (int i = 0; i < 5; i++) block_C[i * 5 * SMMUL55_2_BY + ty * 5 + tx] = s_C[i * 5 * SMMUL55_2_BY + ty * 5 + tx];
}

/*# smmul55_2 metadata
GX = size
GY = 1
GZ = 1
BX = 5
BY = size (recommended 32)
BZ = 1
BATCH = size (recommended 1)
INPATTERN 0 = start "ty*25+tx*5", block "1", stride "1", count 5, noreg 0
INPATTERN 1 = start "ty", block "1", stride "1", count 1, noreg 0
OUTPATTERN = start "ty*25+tx*5", block "1", stride "1", count 5, noreg 0
#*/
__global__ void cu_smmul55_2(matrix5x5 A, scalar s, matrix5x5 C) {}
