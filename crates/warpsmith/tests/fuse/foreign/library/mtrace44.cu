#include "types.cuh"
/*# mtrace44_1_load_1 metadata
Data type = matrix4x4
Data location = shared
Other parameters = tx, bx
#*/
__device__ void d_mtrace44_1_load_1(matrix4x4 g, float *s, int tx, int bx) {
    for (int i = 0; i < 16; i++) s[i * MTRACE44_1_BX + tx] = g[bx * 16 * MTRACE44_1_BX + i * MTRACE44_1_BX + tx];
}
__device__ void d_mtrace44_1_compute(float *a, float *t, int tx) {
    t[tx] = a[tx * 16] + a[tx * 16 + 5] + a[tx * 16 + 10] + a[tx * 16 + 15];
}
/*# mtrace44_1_save metadata
Data type = scalar
Data location = shared
Other parameters = tx, bx
#*/
__device__ void d_mtrace44_1_save(float *s, scalar g, int tx, int bx) { g[bx * MTRACE44_1_BX + tx] = s[tx]; }
/*# mtrace44_1 metadata
GX = size
GY = 1
GZ = 1
BX = size (recommended 128)
BY = 1
BZ = 1
BATCH = size
#*/
__global__ void cu_mtrace44_1(matrix4x4 a, scalar t) {}
void mtrace44_cpu(const float *a, float *t) { *t = a[0] + a[5] + a[10] + a[15]; }
