#include "types.cuh"
/*# tr8_b_load_1 metadata
Data type = mat8
Data location = shared
Other parameters = tx, ty, bx
#*/
__device__ void d_tr8_b_load_1(mat8 a, float *s, int tx, int ty, int bx) { s[ty * 8 + tx] = a[bx * 64 + ty * 8 + tx]; }
__device__ void d_tr8_b_compute(float *a, float *r, int tx, int ty) { r[ty * 8 + tx] = a[tx * 8 + ty]; }
/*# tr8_b_save metadata
Data type = mat8
Data location = shared
Other parameters = tx, ty, bx
#*/
__device__ void d_tr8_b_save(float *s, mat8 a, int tx, int ty, int bx) { a[bx * 64 + ty * 8 + tx] = s[ty * 8 + tx]; }
/*# tr8_b metadata
GX = size
GY = 1
GZ = 1
BX = 8
BY = 8
BZ = 1
BATCH = 1
#*/
__global__ void cu_tr8_b(mat8 a, mat8 r) {}
void tr8_cpu(const float *a, float *r) { for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) r[i * 8 + j] = a[j * 8 + i]; }
