#include "types.cuh"
/*# axpy3_1_load_1 metadata
Data type = scalar
Data location = shared
Other parameters = tx, bx
LSPATTERN = start "tx", block "1", stride "1", count 1, noreg 0
#*/
__device__ void d_axpy3_1_load_1(scalar g, float *s, int tx, int bx) { s[tx] = g[bx * AXPY3_1_BX + tx]; }
/*# axpy3_1_load_2 metadata
Data type = vector3
Data location = shared
Other parameters = tx, bx
LSPATTERN = start "tx*3", block "3", stride "1", count 1, noreg 0
#*/
__device__ void d_axpy3_1_load_2(vector3 g, float *s, int tx, int bx) {
    for (int k = 0; k < 3; ++k) s[tx * 3 + k] = g[(bx * AXPY3_1_BX + tx) * 3 + k];
}
__device__ void d_axpy3_1_compute(float *a, float *x, float *y, float *out, int tx) {
    out[tx * 3] = a[tx] * x[tx * 3] + y[tx * 3];
    out[tx * 3 + 1] = a[tx] * x[tx * 3 + 1] + y[tx * 3 + 1];
    out[tx * 3 + 2] = a[tx] * x[tx * 3 + 2] + y[tx * 3 + 2];
}
/*# axpy3_1_save metadata
Data type = vector3
Data location = shared
Other parameters = tx, bx
LSPATTERN = start "tx*3", block "3", stride "1", count 1, noreg 0
#*/
__device__ void d_axpy3_1_save(float *s, vector3 g, int tx, int bx) {
    for (int k = 0; k < 3; ++k) g[(bx * AXPY3_1_BX + tx) * 3 + k] = s[tx * 3 + k];
}
/*# axpy3_1 metadata
GX = size
GY = 1
GZ = 1
BX = size (recommended 64)
BY = 1
BZ = 1
BATCH = size (recommended 2)
INPATTERN 0 = start "tx", block "1", stride "1", count 1, noreg 0
INPATTERN 1 = start "tx*3", block "3", stride "1", count 1, noreg 0
INPATTERN 2 = start "tx*3", block "1", stride "1", count 3, noreg 1
OUTPATTERN = start "tx*3", block "3", stride "1", count 1, noreg 0
#*/
__global__ void cu_axpy3_1(scalar a, vector3 x, vector3 y, vector3 out) {}
void axpy3_cpu(const float *a, const float *x, const float *y, float *out) {
    for (int k = 0; k < 3; k++) out[k] = a[0] * x[k] + y[k];
}
