#include "types.cuh"
/*# qmul_v_load_1 metadata
Data type = quaternion
Data location = shared
Other parameters = tx, bx
#*/
__device__ void d_qmul_v_load_1(quaternion g, float *s, int tx, int bx) {
    *(float4 *)(s + tx * 4) = *(const float4 *)(g + (bx * QMUL_V_BX + tx) * 4);
}
/*# qmul_v_load_2 metadata
Data type = quaternion
Data location = shared
Other parameters = tx, bx
#*/
__device__ void d_qmul_v_load_2(quaternion g, float *s, int tx, int bx) {
    *(float4 *)(s + tx * 4) = *(const float4 *)(g + (bx * QMUL_V_BX + tx) * 4);
}
__device__ void d_qmul_v_compute(float *p, float *q, float *r, int tx) {
    const float *a = p + tx * 4, *b = q + tx * 4;
    float *c = r + tx * 4;
    c[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    c[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    c[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    c[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}
/*# qmul_v_save metadata
Data type = quaternion
Data location = shared
Other parameters = tx, bx
#*/
__device__ void d_qmul_v_save(float *s, quaternion g, int tx, int bx) {
    *(float4 *)(g + (bx * QMUL_V_BX + tx) * 4) = *(const float4 *)(s + tx * 4);
}
/*# qmul_v metadata
GX = size
GY = 1
GZ = 1
BX = size (recommended 64)
BY = 1
BZ = 1
BATCH = size (recommended 1)
#*/
__global__ void cu_qmul_v(quaternion p, quaternion q, quaternion r) {}
void qmul_cpu(const float *a, const float *b, float *c) {
    c[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    c[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    c[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    c[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}
