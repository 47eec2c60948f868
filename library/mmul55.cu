// Product of two 5x5 matrices: C = A B.

#include "types.cuh"

// One thread an element.

/*# mmul55_1_load_1 metadata
Data type = matrix5x5
Data location = shared
Other parameters = tx, bx
LSPATTERN = start "tx", block "1", stride "MMUL55_1_BX", count 25, noreg 0
#*/
__device__ inline void d_mmul55_1_load_1(matrix5x5 A, float *s_A, int tx, int bx)
{
    matrix5x5 block_A = A + (size_t)bx * 25 * MMUL55_1_BX;
    #pragma unroll
    for (int i = 0; i < 25; i++) s_A[i * MMUL55_1_BX + tx] = block_A[i * MMUL55_1_BX + tx];
}

/*# mmul55_1_load_2 metadata
Data type = matrix5x5
Data location = shared
Other parameters = tx, bx
LSPATTERN = start "tx", block "1", stride "MMUL55_1_BX", count 25, noreg 0
#*/
__device__ inline void d_mmul55_1_load_2(matrix5x5 B, float *s_B, int tx, int bx)
{
    matrix5x5 block_B = B + (size_t)bx * 25 * MMUL55_1_BX;
    #pragma unroll
    for (int i = 0; i < 25; i++) s_B[i * MMUL55_1_BX + tx] = block_B[i * MMUL55_1_BX + tx];
}

__device__ inline void d_mmul55_1_compute(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 5; i++)
        #pragma unroll
        for (int j = 0; j < 5; j++) {
            float sum = 0.0f;
            #pragma unroll
            for (int k = 0; k < 5; k++) sum += A[tx * 25 + i * 5 + k] * B[tx * 25 + k * 5 + j];
            C[tx * 25 + i * 5 + j] = sum;
        }
}

/*# mmul55_1_save metadata
Data type = matrix5x5
Data location = shared
Other parameters = tx, bx
LSPATTERN = start "tx", block "1", stride "MMUL55_1_BX", count 25, noreg 0
#*/
__device__ inline void d_mmul55_1_save(float *s_C, matrix5x5 C, int tx, int bx)
{
    matrix5x5 block_C = C + (size_t)bx * 25 * MMUL55_1_BX;
    #pragma unroll
    for (int i = 0; i < 25; i++) block_C[i * MMUL55_1_BX + tx] = s_C[i * MMUL55_1_BX + tx];
}

/*# mmul55_1 metadata
GX = size
GY = 1
GZ = 1
BX = size (recommended 128)
BY = 1
BZ = 1
BATCH = size (recommended 1)
INPATTERN 0 = start "tx*25", block "1", stride "1", count 25, noreg 0
INPATTERN 1 = start "tx*25", block "1", stride "1", count 25, noreg 0
OUTPATTERN = start "tx*25", block "1", stride "1", count 25, noreg 0
#*/
__global__ void cu_mmul55_1(matrix5x5 A, matrix5x5 B, matrix5x5 C) {}

// 5 threads an element, each for a row of the result.

/*# mmul55_2_load_1 metadata
Data type = matrix5x5
Data location = shared
Other parameters = tx, ty, bx
LSPATTERN = start "ty*5+tx", block "1", stride "5*MMUL55_2_BY", count 5, noreg 0
#*/
__device__ inline void d_mmul55_2_load_1(matrix5x5 A, float *s_A, int tx, int ty, int bx)
{
    matrix5x5 block_A = A + (size_t)bx * 25 * MMUL55_2_BY;
    #pragma unroll
    for (int i = 0; i < 5; i++) s_A[i * 5 * MMUL55_2_BY + ty * 5 + tx] = block_A[i * 5 * MMUL55_2_BY + ty * 5 + tx];
}

/*# mmul55_2_load_2 metadata
Data type = matrix5x5
Data location = shared
Other parameters = tx, ty, bx
LSPATTERN = start "ty*5+tx", block "1", stride "5*MMUL55_2_BY", count 5, noreg 0
#*/
__device__ inline void d_mmul55_2_load_2(matrix5x5 B, float *s_B, int tx, int ty, int bx)
{
    matrix5x5 block_B = B + (size_t)bx * 25 * MMUL55_2_BY;
    #pragma unroll
    for (int i = 0; i < 5; i++) s_B[i * 5 * MMUL55_2_BY + ty * 5 + tx] = block_B[i * 5 * MMUL55_2_BY + ty * 5 + tx];
}

__device__ inline void d_mmul55_2_compute(float *A, float *B, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 5; j++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < 5; k++) sum += A[ty * 25 + tx * 5 + k] * B[ty * 25 + k * 5 + j];
        C[ty * 25 + tx * 5 + j] = sum;
    }
}

/*# mmul55_2_save metadata
Data type = matrix5x5
Data location = shared
Other parameters = tx, ty, bx
LSPATTERN = start "ty*5+tx", block "1", stride "5*MMUL55_2_BY", count 5, noreg 0
#*/
__device__ inline void d_mmul55_2_save(float *s_C, matrix5x5 C, int tx, int ty, int bx)
{
    matrix5x5 block_C = C + (size_t)bx * 25 * MMUL55_2_BY;
    #pragma unroll
    for (int i = 0; i < 5; i++) block_C[i * 5 * MMUL55_2_BY + ty * 5 + tx] = s_C[i * 5 * MMUL55_2_BY + ty * 5 + tx];
}

/*# mmul55_2 metadata
GX = size
GY = 1
GZ = 1
BX = 5
BY = size (recommended 32)
BZ = 1
BATCH = size (recommended 1)
INPATTERN 0 = start "ty*25+tx*5", block "1", stride "1", count 5, noreg 0
INPATTERN 1 = start "ty*25", block "1", stride "1", count 25, noreg 0
OUTPATTERN = start "ty*25+tx*5", block "1", stride "1", count 5, noreg 0
#*/
__global__ void cu_mmul55_2(matrix5x5 A, matrix5x5 B, matrix5x5 C) {}
