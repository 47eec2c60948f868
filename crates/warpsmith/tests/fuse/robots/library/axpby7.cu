#include "types.cuh"
/*# axpby7_1_load_1 metadata
Data type = real
Data location = shared
Other parameters = tx, bx
LSPATTERN = start "tx", block "1", stride "1", count 1, noreg 0
#*/
__device__ void d_axpby7_1_load_1(real a, float *s, int tx, int bx) { s[APLS] = a[bx * AXPBY7_1_BX + tx]; }
/*# axpby7_1_load_2 metadata
Data type = vec7
Data location = shared
Other parameters = tx, bx
LSPATTERN = start "tx", block "1", stride "AXPBY7_1_BX", count 7, noreg 0
#*/
__device__ void d_axpby7_1_load_2(vec7 x, float *s, int tx, int bx)
{
    for (int i = 0; i < 7; i++) s[APLS + i * AXPBY7_1_BX] = x[bx * 7 * AXPBY7_1_BX + tx + i * AXPBY7_1_BX];
}
__device__ void d_axpby7_1_compute(float *a, float *x, float *b, float *y, float *r, int tx)
{
    for (int i = 0; i < 7; i++) r[APOUT + i] = a[APIN0] * x[APIN1 + i] + b[APIN2] * y[APIN3 + i];
}
/*# axpby7_1_save metadata
Data type = vec7
Data location = shared
Other parameters = tx, bx
LSPATTERN = start "tx", block "1", stride "AXPBY7_1_BX", count 7, noreg 0
#*/
__device__ void d_axpby7_1_save(float *s, vec7 x, int tx, int bx)
{
    for (int i = 0; i < 7; i++) x[bx * 7 * AXPBY7_1_BX + tx + i * AXPBY7_1_BX] = s[APLS + i * AXPBY7_1_BX];
}
/*# axpby7_1 metadata
GX = size
GY = 1
GZ = 1
BX = size (recommended 96)
BY = 1
BZ = 1
BATCH = size
INPATTERN 0 = start "tx", block "1", stride "1", count 1, noreg 0
INPATTERN 1 = start "tx*7", block "7", stride "7", count 1, noreg 0
INPATTERN 2 = start "tx", block "1", stride "1", count 1, noreg 0
INPATTERN 3 = start "tx*7", block "7", stride "7", count 1, noreg 0
OUTPATTERN = start "tx*7", block "7", stride "7", count 1, noreg 0
#*/
__global__ void cu_axpby7_1(real a, vec7 x, real b, vec7 y, vec7 r) {}

/*# axpby7_7_load_1 metadata
Data type = real
Data location = shared
Other parameters = tx, ty, bx
#*/
__device__ void d_axpby7_7_load_1(real a, float *s, int tx, int ty, int bx) { if (tx == 0) s[ty] = a[bx * AXPBY7_7_BY + ty]; }
/*# axpby7_7_load_2 metadata
Data type = vec7
Data location = shared
Other parameters = tx, ty, bx
#*/
__device__ void d_axpby7_7_load_2(vec7 a, float *s, int tx, int ty, int bx) { s[ty * 7 + tx] = a[bx * 7 * AXPBY7_7_BY + ty * 7 + tx]; }
__device__ void d_axpby7_7_compute(float *a, float *x, float *b, float *y, float *r, int tx, int ty)
{
    const int at = ty * 7 + tx;
    r[at] = a[ty] * x[at] + b[ty] * y[at];
}
/*# axpby7_7_save metadata
Data type = vec7
Data location = shared
Other parameters = tx, ty, bx
#*/
__device__ void d_axpby7_7_save(float *s, vec7 a, int tx, int ty, int bx) { a[bx * 7 * AXPBY7_7_BY + ty * 7 + tx] = s[ty * 7 + tx]; }
/*# axpby7_7 metadata
GX = size
GY = 1
GZ = 1
BX = 7
BY = size (recommended 16)
BZ = 1
BATCH = 1
INPATTERN 1 = start "ty*7+tx", block "1", stride "1", count 1, noreg 0
OUTPATTERN = start "ty*7+tx", block "1", stride "1", count 1, noreg 0
#*/
__global__ void cu_axpby7_7(real a, vec7 x, real b, vec7 y, vec7 r) {}
