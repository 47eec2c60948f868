#include "types.cuh"
/*# mtrans33_a_load_1 metadata
Data type = matrix3x3
Data location = shared
Other parameters = tx, ty, bx
#*/
__device__ void d_mtrans33_a_load_1(matrix3x3 g, float *s, int tx, int ty, int bx) {
    for (int i = 0; i < 3; ++i) s[ty * 3 + tx + i * 3 * MTRANS33_A_BY] = g[bx * 9 * MTRANS33_A_BY + ty * 3 + tx + i * 3 * MTRANS33_A_BY];
}
__device__ void d_mtrans33_a_compute(float *in, float *out, int tx, int ty) {
    // row tx of the result is column tx of the input
    for (int i = 0; i < 3; ++i) out[ty * 9 + tx * 3 + i] = in[ty * 9 + i * 3 + tx];
}
/*# mtrans33_a_save metadata
Data type = matrix3x3
Data location = shared
Other parameters = tx, ty, bx
#*/
__device__ void d_mtrans33_a_save(float *s, matrix3x3 g, int tx, int ty, int bx) {
    for (int i = 0; i < 3; ++i) g[bx * 9 * MTRANS33_A_BY + ty * 3 + tx + i * 3 * MTRANS33_A_BY] = s[ty * 3 + tx + i * 3 * MTRANS33_A_BY];
}
/*# mtrans33_a metadata
GX = size
GY = 1
GZ = 1
BX = 3
BY = size (recommended 32)
BZ = 1
BATCH = 1
INPATTERN 0 = start "ty*9+tx", block "1", stride "3", count 3, noreg 0
OUTPATTERN = start "ty*9+tx*3", block "3", stride "0", count 1, noreg 0
#*/
__global__ void cu_mtrans33_a(matrix3x3 a, matrix3x3 b) {}
