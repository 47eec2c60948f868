// Sum of two 3x3 matrices: C = A + B.

#include "types.cuh"

// One thread an element.

/*# madd33_1_load_1 metadata
Data type = matrix3x3
Data location = shared
Other parameters = tx, bx
LSPATTERN = start "tx", block "1", stride "MADD33_1_BX", count 9, noreg 0
#*/
__device__ inline void d_madd33_1_load_1(matrix3x3 A, float *s_A, int tx, int bx)
{
    matrix3x3 block_A = A + (size_t)bx * 9 * MADD33_1_BX;
    #pragma unroll
    for (int i = 0; i < 9; i++) s_A[i * MADD33_1_BX + tx] = block_A[i * MADD33_1_BX + tx];
}

/*# madd33_1_load_2 metadata
Data type = matrix3x3
Data location = shared
Other parameters = tx, bx
LSPATTERN = start "tx", block "1", stride "MADD33_1_BX", count 9, noreg 0
#*/
__device__ inline void d_madd33_1_load_2(matrix3x3 B, float *s_B, int tx, int bx)
{
    matrix3x3 block_B = B + (size_t)bx * 9 * MADD33_1_BX;
    #pragma unroll
    for (int i = 0; i < 9; i++) s_B[i * MADD33_1_BX + tx] = block_B[i * MADD33_1_BX + tx];
}

__device__ inline void d_madd33_1_compute(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[tx * 9 + i] = A[tx * 9 + i] + B[tx * 9 + i];
}

/*# madd33_1_save metadata
Data type = matrix3x3
Data location = shared
Other parameters = tx, bx
LSPATTERN = start "tx", block "1", stride "MADD33_1_BX", count 9, noreg 0
#*/
__device__ inline void d_madd33_1_save(float *s_C, matrix3x3 C, int tx, int bx)
{
    matrix3x3 block_C = C + (size_t)bx * 9 * MADD33_1_BX;
    #pragma unroll
    for (int i = 0; i < 9; i++) block_C[i * MADD33_1_BX + tx] = s_C[i * MADD33_1_BX + tx];
}

/*# madd33_1 metadata
GX = size
GY = 1
GZ = 1
BX = size (recommended 128)
BY = 1
BZ = 1
BATCH = size (recommended 1)
INPATTERN 0 = start "tx*9", block "1", stride "1", count 9, noreg 0
INPATTERN 1 = start "tx*9", block "1", stride "1", count 9, noreg 0
OUTPATTERN = start "tx*9", block "1", stride "1", count 9, noreg 0
#*/
__global__ void cu_madd33_1(matrix3x3 A, matrix3x3 B, matrix3x3 C) {}

// 3 threads an element, each for a row.

/*# madd33_2_load_1 metadata
Data type = matrix3x3
Data location = shared
Other parameters = tx, ty, bx
LSPATTERN = start "ty*3+tx", block "1", stride "3*MADD33_2_BY", count 3, noreg 0
#*/
__device__ inline void d_madd33_2_load_1(matrix3x3 A, float *s_A, int tx, int ty, int bx)
{
    matrix3x3 block_A = A + (size_t)bx * 9 * MADD33_2_BY;
    #pragma unroll
    for (int i = 0; i < 3; i++) s_A[i * 3 * MADD33_2_BY + ty * 3 + tx] = block_A[i * 3 * MADD33_2_BY + ty * 3 + tx];
}

/*# madd33_2_load_2 metadata
Data type = matrix3x3
Data location = shared
Other parameters = tx, ty, bx
LSPATTERN = start "ty*3+tx", block "1", stride "3*MADD33_2_BY", count 3, noreg 0
#*/
__device__ inline void d_madd33_2_load_2(matrix3x3 B, float *s_B, int tx, int ty, int bx)
{
    matrix3x3 block_B = B + (size_t)bx * 9 * MADD33_2_BY;
    #pragma unroll
    for (int i = 0; i < 3; i++) s_B[i * 3 * MADD33_2_BY + ty * 3 + tx] = block_B[i * 3 * MADD33_2_BY + ty * 3 + tx];
}

__device__ inline void d_madd33_2_compute(float *A, float *B, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++)
        C[ty * 9 + tx * 3 + j] = A[ty * 9 + tx * 3 + j] + B[ty * 9 + tx * 3 + j];
}

/*# madd33_2_save metadata
Data type = matrix3x3
Data location = shared
Other parameters = tx, ty, bx
LSPATTERN = start "ty*3+tx", block "1", stride "3*MADD33_2_BY", count 3, noreg 0
#*/
__device__ inline void d_madd33_2_save(float *s_C, matrix3x3 C, int tx, int ty, int bx)
{
    matrix3x3 block_C = C + (size_t)bx * 9 * MADD33_2_BY;
    #pragma unroll
    for (int i = 0; i < 3; i++) block_C[i * 3 * MADD33_2_BY + ty * 3 + tx] = s_C[i * 3 * MADD33_2_BY + ty * 3 + tx];
}

/*# madd33_2 metadata
GX = size
GY = 1
GZ = 1
BX = 3
BY = size (recommended 64)
BZ = 1
BATCH = size (recommended 1)
INPATTERN 0 = start "ty*9+tx*3", block "1", stride "1", count 3, noreg 0
INPATTERN 1 = start "ty*9+tx*3", block "1", stride "1", count 3, noreg 0
OUTPATTERN = start "ty*9+tx*3", block "1", stride "1", count 3, noreg 0
#*/
__global__ void cu_madd33_2(matrix3x3 A, matrix3x3 B, matrix3x3 C) {}
