// A fourth-order tensor times a vector: R[i][j][k] = sum over l of T[i][j][k][l] v[l].

#include "types.cuh"

// One thread an element.

/*# ttmul411_1_load_1 metadata
Data type = tensor3x3x3x3
Data location = shared
Other parameters = tx, bx
LSPATTERN = start "tx", block "1", stride "TTMUL411_1_BX", count 81, noreg 0
#*/
__device__ inline void d_ttmul411_1_load_1(tensor3x3x3x3 T, float *s_T, int tx, int bx)
{
    tensor3x3x3x3 block_T = T + (size_t)bx * 81 * TTMUL411_1_BX;
    #pragma unroll
    for (int i = 0; i < 81; i++) s_T[i * TTMUL411_1_BX + tx] = block_T[i * TTMUL411_1_BX + tx];
}

/*# ttmul411_1_load_2 metadata
Data type = vector3
Data location = shared
Other parameters = tx, bx
LSPATTERN = start "tx", block "1", stride "TTMUL411_1_BX", count 3, noreg 0
#*/
__device__ inline void d_ttmul411_1_load_2(vector3 v, float *s_v, int tx, int bx)
{
    vector3 block_v = v + (size_t)bx * 3 * TTMUL411_1_BX;
    #pragma unroll
    for (int i = 0; i < 3; i++) s_v[i * TTMUL411_1_BX + tx] = block_v[i * TTMUL411_1_BX + tx];
}

__device__ inline void d_ttmul411_1_compute(float *T, float *v, float *R, int tx)
{
    #pragma unroll
    for (int i = 0; i < 27; i++) {
        float sum = 0.0f;
        #pragma unroll
        for (int l = 0; l < 3; l++) sum += T[tx * 81 + i * 3 + l] * v[tx * 3 + l];
        R[tx * 27 + i] = sum;
    }
}

/*# ttmul411_1_save metadata
Data type = tensor3x3x3
Data location = shared
Other parameters = tx, bx
LSPATTERN = start "tx", block "1", stride "TTMUL411_1_BX", count 27, noreg 0
#*/
__device__ inline void d_ttmul411_1_save(float *s_R, tensor3x3x3 R, int tx, int bx)
{
    tensor3x3x3 block_R = R + (size_t)bx * 27 * TTMUL411_1_BX;
    #pragma unroll
    for (int i = 0; i < 27; i++) block_R[i * TTMUL411_1_BX + tx] = s_R[i * TTMUL411_1_BX + tx];
}

/*# ttmul411_1 metadata
GX = size
GY = 1
GZ = 1
BX = size (recommended 128)
BY = 1
BZ = 1
BATCH = size (recommended 1)
INPATTERN 0 = start "tx*81", block "1", stride "1", count 81, noreg 0
INPATTERN 1 = start "tx*3", block "1", stride "1", count 3, noreg 0
OUTPATTERN = start "tx*27", block "1", stride "1", count 27, noreg 0
#*/
__global__ void cu_ttmul411_1(tensor3x3x3x3 T, vector3 v, tensor3x3x3 R) {}

// 9 threads an element, each for a row R[i][j] of the result.

/*# ttmul411_2_load_1 metadata
Data type = tensor3x3x3x3
Data location = shared
Other parameters = tx, ty, bx
LSPATTERN = start "ty*9+tx", block "1", stride "9*TTMUL411_2_BY", count 9, noreg 0
#*/
__device__ inline void d_ttmul411_2_load_1(tensor3x3x3x3 T, float *s_T, int tx, int ty, int bx)
{
    tensor3x3x3x3 block_T = T + (size_t)bx * 81 * TTMUL411_2_BY;
    #pragma unroll
    for (int i = 0; i < 9; i++) s_T[i * 9 * TTMUL411_2_BY + ty * 9 + tx] = block_T[i * 9 * TTMUL411_2_BY + ty * 9 + tx];
}

/*# ttmul411_2_load_2 metadata
Data type = vector3
Data location = shared
Other parameters = tx, ty, bx
#*/
__device__ inline void d_ttmul411_2_load_2(vector3 v, float *s_v, int tx, int ty, int bx)
{
    vector3 block_v = v + (size_t)bx * 3 * TTMUL411_2_BY;
    if (tx < 3) s_v[ty * 3 + tx] = block_v[ty * 3 + tx];
}

__device__ inline void d_ttmul411_2_compute(float *T, float *v, float *R, int tx, int ty)
{
    #pragma unroll
    for (int k = 0; k < 3; k++) {
        float sum = 0.0f;
        #pragma unroll
        for (int l = 0; l < 3; l++) sum += T[ty * 81 + tx * 9 + k * 3 + l] * v[ty * 3 + l];
        R[ty * 27 + tx * 3 + k] = sum;
    }
}

/*# ttmul411_2_save metadata
Data type = tensor3x3x3
Data location = shared
Other parameters = tx, ty, bx
LSPATTERN = start "ty*9+tx", block "1", stride "9*TTMUL411_2_BY", count 3, noreg 0
#*/
__device__ inline void d_ttmul411_2_save(float *s_R, tensor3x3x3 R, int tx, int ty, int bx)
{
    tensor3x3x3 block_R = R + (size_t)bx * 27 * TTMUL411_2_BY;
    #pragma unroll
    for (int i = 0; i < 3; i++) block_R[i * 9 * TTMUL411_2_BY + ty * 9 + tx] = s_R[i * 9 * TTMUL411_2_BY + ty * 9 + tx];
}

/*# ttmul411_2 metadata
GX = size
GY = 1
GZ = 1
BX = 9
BY = size (recommended 32)
BZ = 1
BATCH = size (recommended 1)
INPATTERN 0 = start "ty*81+tx*9", block "1", stride "1", count 9, noreg 0
INPATTERN 1 = start "ty*3", block "1", stride "1", count 3, noreg 0
OUTPATTERN = start "ty*27+tx*3", block "1", stride "1", count 3, noreg 0
#*/
__global__ void cu_ttmul411_2(tensor3x3x3x3 T, vector3 v, tensor3x3x3 R) {}
