// Product of two 3x3 matrices: C = A B.
//
// This file is the one that is explained line by line; the others are written in the same way. A function NAME stands in
// NAME.cu with all its implementations, and its reference for the CPU in NAME.cpp. An implementation IMPL consists of
//
//     d_NAME_IMPL_load_K   what brings input K (from 1 on) from global to shared memory
//     d_NAME_IMPL_compute  what computes the result from arguments in shared memory or in registers
//     d_NAME_IMPL_save     what brings the result back
//     cu_NAME_IMPL         an empty kernel, whose parameters say the types: the inputs, then the output
//
// Comments that open with slash, star, # are metadata: first whose they are, then lines KEY = value.

// The element types, matrix3x3 for one: nine floats. Only types.cuh may be included without being part of the output.
#include "types.cuh"

// One thread an element: thread tx of a block computes element tx of the block.

// The first load. "Data type" is what it moves, "Data location" where to, always shared memory. "Other parameters" are the
// coordinates that it takes after the two arrays, in this order: tx, ty, tz of the thread in its block, bx, by, bz of the
// block. LSPATTERN says which offsets of the shared array a thread touches: first "start", and "block" offsets from there,
// then the same "count" times, each time "stride" further. With "noreg 1" the argument would never be kept in registers.
// A pattern may be left out: it is derived from the code. Where it stands it must say what the code does. The whole comment of
// a load or save may be left out where the type of its array and the names of its coordinates say the same.
// A body may also take the start from its pattern: APLS stands for it here, APIN0, APIN1, ... and APOUT in compute, for 0 where the
// argument is in registers. Then nothing else says where a thread begins, and the routine is run to see whether it is right.
/*# mmul33_1_load_1 metadata
Data type = matrix3x3
Data location = shared
Other parameters = tx, bx
LSPATTERN = start "tx", block "1", stride "MMUL33_1_BX", count 9, noreg 0
#*/
__device__ inline void d_mmul33_1_load_1(matrix3x3 A, float *s_A, int tx, int bx)
{
    // Where the elements of block bx begin: MMUL33_1_BX is the size of the block along x, here its elements; the generator
    // puts the number in.
    matrix3x3 block_A = A + (size_t)bx * 9 * MMUL33_1_BX;
    // Neighbouring threads move neighbouring floats, as memory likes it. No bounds are checked: the generator takes care
    // that the last block is whole. Since this is a plain copy of the block, it may put its own copy in place of it.
    #pragma unroll
    for (int i = 0; i < 9; i++) s_A[i * MMUL33_1_BX + tx] = block_A[i * MMUL33_1_BX + tx];
}

/*# mmul33_1_load_2 metadata
Data type = matrix3x3
Data location = shared
Other parameters = tx, bx
LSPATTERN = start "tx", block "1", stride "MMUL33_1_BX", count 9, noreg 0
#*/
__device__ inline void d_mmul33_1_load_2(matrix3x3 B, float *s_B, int tx, int bx)
{
    matrix3x3 block_B = B + (size_t)bx * 9 * MMUL33_1_BX;
    #pragma unroll
    for (int i = 0; i < 9; i++) s_B[i * MMUL33_1_BX + tx] = block_B[i * MMUL33_1_BX + tx];
}

// The computation has no metadata of its own: its arguments are the inputs, the output and the coordinates that it uses.
// Arguments are used with subscripts (or as pointers with an offset, `A + tx * 9`), so that an argument can be an array in
// registers: the generator then counts its offsets from the first one that the thread touches, and unrolls all loops.
__device__ inline void d_mmul33_1_compute(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++)
        #pragma unroll
        for (int j = 0; j < 3; j++) {
            float sum = 0.0f;
            #pragma unroll
            for (int k = 0; k < 3; k++) sum += A[tx * 9 + i * 3 + k] * B[tx * 9 + k * 3 + j];
            C[tx * 9 + i * 3 + j] = sum;
        }
}

// The save is a load the other way round: the shared array comes first.
/*# mmul33_1_save metadata
Data type = matrix3x3
Data location = shared
Other parameters = tx, bx
LSPATTERN = start "tx", block "1", stride "MMUL33_1_BX", count 9, noreg 0
#*/
__device__ inline void d_mmul33_1_save(float *s_C, matrix3x3 C, int tx, int bx)
{
    matrix3x3 block_C = C + (size_t)bx * 9 * MMUL33_1_BX;
    #pragma unroll
    for (int i = 0; i < 9; i++) block_C[i * MMUL33_1_BX + tx] = s_C[i * MMUL33_1_BX + tx];
}

// The kernel's metadata. GX, GY, GZ are the sizes of the grid, BX, BY, BZ of the block: numbers, or "size" where the
// generator chooses; the free size of the block counts elements. BATCH is how many blocks of elements a block handles one
// after the other. INPATTERN k is the pattern of input k, from 0 on, OUTPATTERN that of the output.
/*# mmul33_1 metadata
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
__global__ void cu_mmul33_1(matrix3x3 A, matrix3x3 B, matrix3x3 C) {}

// 3 threads an element, each for a row of the result: thread (tx, ty) computes row tx of element ty. Its row of A and of C
// is three floats, and it needs all of B. What follows in the same way can take C in registers.

/*# mmul33_2_load_1 metadata
Data type = matrix3x3
Data location = shared
Other parameters = tx, ty, bx
LSPATTERN = start "ty*3+tx", block "1", stride "3*MMUL33_2_BY", count 3, noreg 0
#*/
__device__ inline void d_mmul33_2_load_1(matrix3x3 A, float *s_A, int tx, int ty, int bx)
{
    matrix3x3 block_A = A + (size_t)bx * 9 * MMUL33_2_BY;
    #pragma unroll
    for (int i = 0; i < 3; i++) s_A[i * 3 * MMUL33_2_BY + ty * 3 + tx] = block_A[i * 3 * MMUL33_2_BY + ty * 3 + tx];
}

/*# mmul33_2_load_2 metadata
Data type = matrix3x3
Data location = shared
Other parameters = tx, ty, bx
LSPATTERN = start "ty*3+tx", block "1", stride "3*MMUL33_2_BY", count 3, noreg 0
#*/
__device__ inline void d_mmul33_2_load_2(matrix3x3 B, float *s_B, int tx, int ty, int bx)
{
    matrix3x3 block_B = B + (size_t)bx * 9 * MMUL33_2_BY;
    #pragma unroll
    for (int i = 0; i < 3; i++) s_B[i * 3 * MMUL33_2_BY + ty * 3 + tx] = block_B[i * 3 * MMUL33_2_BY + ty * 3 + tx];
}

__device__ inline void d_mmul33_2_compute(float *A, float *B, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < 3; k++) sum += A[ty * 9 + tx * 3 + k] * B[ty * 9 + k * 3 + j];
        C[ty * 9 + tx * 3 + j] = sum;
    }
}

/*# mmul33_2_save metadata
Data type = matrix3x3
Data location = shared
Other parameters = tx, ty, bx
LSPATTERN = start "ty*3+tx", block "1", stride "3*MMUL33_2_BY", count 3, noreg 0
#*/
__device__ inline void d_mmul33_2_save(float *s_C, matrix3x3 C, int tx, int ty, int bx)
{
    matrix3x3 block_C = C + (size_t)bx * 9 * MMUL33_2_BY;
    #pragma unroll
    for (int i = 0; i < 3; i++) block_C[i * 3 * MMUL33_2_BY + ty * 3 + tx] = s_C[i * 3 * MMUL33_2_BY + ty * 3 + tx];
}

/*# mmul33_2 metadata
GX = size
GY = 1
GZ = 1
BX = 3
BY = size (recommended 64)
BZ = 1
BATCH = size (recommended 1)
INPATTERN 0 = start "ty*9+tx*3", block "1", stride "1", count 3, noreg 0
INPATTERN 1 = start "ty*9", block "1", stride "1", count 9, noreg 0
OUTPATTERN = start "ty*9+tx*3", block "1", stride "1", count 3, noreg 0
#*/
__global__ void cu_mmul33_2(matrix3x3 A, matrix3x3 B, matrix3x3 C) {}

// What this file does not show:
//
// There may be fewer loads than inputs: an input without a load of its number is loaded by the one of its type.
//
// In place of the start of a pattern a body may have a placeholder: APIN0, APIN1, … in compute for its inputs and APOUT for its
// output, APLS in loads and saves: `C[APOUT + k] = A[APIN0 + k] + …`. They become the pattern's start, or 0 where the argument is
// in registers; then the pattern must be given, since only it says where to start.
//
// Macros, tables, helper functions and headers of the library (`#include "name.cuh"`) may stand beside the routines and are
// written with them. No routine waits for other threads or asks the hardware for coordinates: some threads of a fused kernel may
// be idle in it, and its block may have another shape.
//
// The reference, `void NAME_cpu(const float *in0, …, float *out)` for one element, stands in NAME.cpp or in this file.
