// A third-order tensor times a vector: R[i][j] = sum over k of T[i][j][k] v[k].

#include "types.cuh"

// One thread an element.

/*# ttmul311_1_load_1 metadata
Data type = tensor3x3x3
Data location = shared
Other parameters = tx, bx
LSPATTERN = start "tx", block "1", stride "TTMUL311_1_BX", count 27, noreg 0
#*/
__device__ inline void d_ttmul311_1_load_1(tensor3x3x3 T, float *s_T, int tx, int bx)
{
    tensor3x3x3 block_T = T + (size_t)bx * 27 * TTMUL311_1_BX;
    #pragma unroll
    for (int i = 0; i < 27; i++) s_T[i * TTMUL311_1_BX + tx] = block_T[i * TTMUL311_1_BX + tx];
}

/*# ttmul311_1_load_2 metadata
Data type = vector3
Data location = shared
Other parameters = tx, bx
LSPATTERN = start "tx", block "1", stride "TTMUL311_1_BX", count 3, noreg 0
#*/
__device__ inline void d_ttmul311_1_load_2(vector3 v, float *s_v, int tx, int bx)
{
    vector3 block_v = v + (size_t)bx * 3 * TTMUL311_1_BX;
    #pragma unroll
    for (int i = 0; i < 3; i++) s_v[i * TTMUL311_1_BX + tx] = block_v[i * TTMUL311_1_BX + tx];
}

__device__ inline void d_ttmul311_1_compute(float *T, float *v, float *R, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < 3; k++) sum += T[tx * 27 + i * 3 + k] * v[tx * 3 + k];
        R[tx * 9 + i] = sum;
    }
}

/*# ttmul311_1_save metadata
Data type = matrix3x3
Data location = shared
Other parameters = tx, bx
LSPATTERN = start "tx", block "1", stride "TTMUL311_1_BX", count 9, noreg 0
#*/
__device__ inline void d_ttmul311_1_save(float *s_R, matrix3x3 R, int tx, int bx)
{
    matrix3x3 block_R = R + (size_t)bx * 9 * TTMUL311_1_BX;
    #pragma unroll
    for (int i = 0; i < 9; i++) block_R[i * TTMUL311_1_BX + tx] = s_R[i * TTMUL311_1_BX + tx];
}

/*# ttmul311_1 metadata
GX = size
GY = 1
GZ = 1
BX = size (recommended 128)
BY = 1
BZ = 1
BATCH = size (recommended 1)
INPATTERN 0 = start "tx*27", block "1", stride "1", count 27, noreg 0
INPATTERN 1 = start "tx*3", block "1", stride "1", count 3, noreg 0
OUTPATTERN = start "tx*9", block "1", stride "1", count 9, noreg 0
#*/
__global__ void cu_ttmul311_1(tensor3x3x3 T, vector3 v, matrix3x3 R) {}

// 3 threads an element, each for a row of the result.

/*# ttmul311_2_load_1 metadata
Data type = tensor3x3x3
Data location = shared
Other parameters = tx, ty, bx
LSPATTERN = start "ty*3+tx", block "1", stride "3*TTMUL311_2_BY", count 9, noreg 0
#*/
__device__ inline void d_ttmul311_2_load_1(tensor3x3x3 T, float *s_T, int tx, int ty, int bx)
{
    tensor3x3x3 block_T = T + (size_t)bx * 27 * TTMUL311_2_BY;
    #pragma unroll
    for (int i = 0; i < 9; i++) s_T[i * 3 * TTMUL311_2_BY + ty * 3 + tx] = block_T[i * 3 * TTMUL311_2_BY + ty * 3 + tx];
}

/*# ttmul311_2_load_2 metadata
Data type = vector3
Data location = shared
Other parameters = tx, ty, bx
LSPATTERN = start "ty*3+tx", block "1", stride "3*TTMUL311_2_BY", count 1, noreg 0
#*/
__device__ inline void d_ttmul311_2_load_2(vector3 v, float *s_v, int tx, int ty, int bx)
{
    vector3 block_v = v + (size_t)bx * 3 * TTMUL311_2_BY;
    s_v[ty * 3 + tx] = block_v[ty * 3 + tx];
}

__device__ inline void d_ttmul311_2_compute(float *T, float *v, float *R, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < 3; k++) sum += T[ty * 27 + tx * 9 + j * 3 + k] * v[ty * 3 + k];
        R[ty * 9 + tx * 3 + j] = sum;
    }
}

/*# ttmul311_2_save metadata
Data type = matrix3x3
Data location = shared
Other parameters = tx, ty, bx
LSPATTERN = start "ty*3+tx", block "1", stride "3*TTMUL311_2_BY", count 3, noreg 0
#*/
__device__ inline void d_ttmul311_2_save(float *s_R, matrix3x3 R, int tx, int ty, int bx)
{
    matrix3x3 block_R = R + (size_t)bx * 9 * TTMUL311_2_BY;
    #pragma unroll
    for (int i = 0; i < 3; i++) block_R[i * 3 * TTMUL311_2_BY + ty * 3 + tx] = s_R[i * 3 * TTMUL311_2_BY + ty * 3 + tx];
}

/*# ttmul311_2 metadata
GX = size
GY = 1
GZ = 1
BX = 3
BY = size (recommended 64)
BZ = 1
BATCH = size (recommended 1)
INPATTERN 0 = start "ty*27+tx*9", block "1", stride "1", count 9, noreg 0
INPATTERN 1 = start "ty*3", block "1", stride "1", count 3, noreg 0
OUTPATTERN = start "ty*9+tx*3", block "1", stride "1", count 3, noreg 0
#*/
__global__ void cu_ttmul311_2(tensor3x3x3 T, vector3 v, matrix3x3 R) {}
