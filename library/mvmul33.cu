// A 3x3 matrix times a vector: w = A v.

#include "types.cuh"

// One thread an element.

/*# mvmul33_1_load_1 metadata
Data type = matrix3x3
Data location = shared
Other parameters = tx, bx
LSPATTERN = start "tx", block "1", stride "MVMUL33_1_BX", count 9, noreg 0
#*/
__device__ inline void d_mvmul33_1_load_1(matrix3x3 A, float *s_A, int tx, int bx)
{
    matrix3x3 block_A = A + (size_t)bx * 9 * MVMUL33_1_BX;
    #pragma unroll
    for (int i = 0; i < 9; i++) s_A[i * MVMUL33_1_BX + tx] = block_A[i * MVMUL33_1_BX + tx];
}

/*# mvmul33_1_load_2 metadata
Data type = vector3
Data location = shared
Other parameters = tx, bx
LSPATTERN = start "tx", block "1", stride "MVMUL33_1_BX", count 3, noreg 0
#*/
__device__ inline void d_mvmul33_1_load_2(vector3 v, float *s_v, int tx, int bx)
{
    vector3 block_v = v + (size_t)bx * 3 * MVMUL33_1_BX;
    #pragma unroll
    for (int i = 0; i < 3; i++) s_v[i * MVMUL33_1_BX + tx] = block_v[i * MVMUL33_1_BX + tx];
}

__device__ inline void d_mvmul33_1_compute(float *A, float *v, float *w, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < 3; k++) sum += A[tx * 9 + i * 3 + k] * v[tx * 3 + k];
        w[tx * 3 + i] = sum;
    }
}

/*# mvmul33_1_save metadata
Data type = vector3
Data location = shared
Other parameters = tx, bx
LSPATTERN = start "tx", block "1", stride "MVMUL33_1_BX", count 3, noreg 0
#*/
__device__ inline void d_mvmul33_1_save(float *s_w, vector3 w, int tx, int bx)
{
    vector3 block_w = w + (size_t)bx * 3 * MVMUL33_1_BX;
    #pragma unroll
    for (int i = 0; i < 3; i++) block_w[i * MVMUL33_1_BX + tx] = s_w[i * MVMUL33_1_BX + tx];
}

/*# mvmul33_1 metadata
GX = size
GY = 1
GZ = 1
BX = size (recommended 128)
BY = 1
BZ = 1
BATCH = size (recommended 1)
INPATTERN 0 = start "tx*9", block "1", stride "1", count 9, noreg 0
INPATTERN 1 = start "tx*3", block "1", stride "1", count 3, noreg 0
OUTPATTERN = start "tx*3", block "1", stride "1", count 3, noreg 0
#*/
__global__ void cu_mvmul33_1(matrix3x3 A, vector3 v, vector3 w) {}

// 3 threads an element, each for an entry of the result.

/*# mvmul33_2_load_1 metadata
Data type = matrix3x3
Data location = shared
Other parameters = tx, ty, bx
LSPATTERN = start "ty*3+tx", block "1", stride "3*MVMUL33_2_BY", count 3, noreg 0
#*/
__device__ inline void d_mvmul33_2_load_1(matrix3x3 A, float *s_A, int tx, int ty, int bx)
{
    matrix3x3 block_A = A + (size_t)bx * 9 * MVMUL33_2_BY;
    #pragma unroll
    for (int i = 0; i < 3; i++) s_A[i * 3 * MVMUL33_2_BY + ty * 3 + tx] = block_A[i * 3 * MVMUL33_2_BY + ty * 3 + tx];
}

/*# mvmul33_2_load_2 metadata
Data type = vector3
Data location = shared
Other parameters = tx, ty, bx
LSPATTERN = start "ty*3+tx", block "1", stride "3*MVMUL33_2_BY", count 1, noreg 0
#*/
__device__ inline void d_mvmul33_2_load_2(vector3 v, float *s_v, int tx, int ty, int bx)
{
    vector3 block_v = v + (size_t)bx * 3 * MVMUL33_2_BY;
    s_v[ty * 3 + tx] = block_v[ty * 3 + tx];
}

__device__ inline void d_mvmul33_2_compute(float *A, float *v, float *w, int tx, int ty)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += A[ty * 9 + tx * 3 + k] * v[ty * 3 + k];
    w[ty * 3 + tx] = sum;
}

/*# mvmul33_2_save metadata
Data type = vector3
Data location = shared
Other parameters = tx, ty, bx
LSPATTERN = start "ty*3+tx", block "1", stride "3*MVMUL33_2_BY", count 1, noreg 0
#*/
__device__ inline void d_mvmul33_2_save(float *s_w, vector3 w, int tx, int ty, int bx)
{
    vector3 block_w = w + (size_t)bx * 3 * MVMUL33_2_BY;
    block_w[ty * 3 + tx] = s_w[ty * 3 + tx];
}

/*# mvmul33_2 metadata
GX = size
GY = 1
GZ = 1
BX = 3
BY = size (recommended 64)
BZ = 1
BATCH = size (recommended 1)
INPATTERN 0 = start "ty*9+tx*3", block "1", stride "1", count 3, noreg 0
INPATTERN 1 = start "ty*3", block "1", stride "1", count 3, noreg 0
OUTPATTERN = start "ty*3+tx", block "1", stride "1", count 1, noreg 0
#*/
__global__ void cu_mvmul33_2(matrix3x3 A, vector3 v, vector3 w) {}
