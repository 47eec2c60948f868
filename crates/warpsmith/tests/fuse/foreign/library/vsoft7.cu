#include "types.cuh"
static __device__ float cofactor(float x) { return expf(x); }
/*# vsoft7_1_load_1 metadata
Data type = vector7
Data location = shared
Other parameters = tx, bx
#*/
__device__ void d_vsoft7_1_load_1(vector7 g, float *s, int tx, int bx) {
    for (int i = 0; i < 7; i++) s[i * VSOFT7_1_BX + tx] = g[(size_t)bx * 7 * VSOFT7_1_BX + i * VSOFT7_1_BX + tx];
}
__device__ void d_vsoft7_1_compute(float *__restrict__ in, float *__restrict__ out, int tx) {
    float most = in[tx * 7];
    for (int i = 1; i < 7; i++) if (in[tx * 7 + i] > most) most = in[tx * 7 + i];
    float sum = 0.0f;
    int k = 0;
    while (k < 7) { const float e = cofactor(in[tx * 7 + k] - most); out[tx * 7 + k] = e; sum += e; k++; }
    for (int i = 0; i < 7; i++) out[tx * 7 + i] /= sum;
}
/*# vsoft7_1_save metadata
Data type = vector7
Data location = shared
Other parameters = tx, bx
#*/
__device__ void d_vsoft7_1_save(float *s, vector7 g, int tx, int bx) {
    for (int i = 0; i < 7; i++) g[(size_t)bx * 7 * VSOFT7_1_BX + i * VSOFT7_1_BX + tx] = s[i * VSOFT7_1_BX + tx];
}
/*# vsoft7_1 metadata
GX = size
GY = 1
GZ = 1
BX = size (recommended 128)
BY = 1
BZ = 1
BATCH = size (recommended 1)
#*/
__global__ void cu_vsoft7_1(vector7 a, vector7 b) {}
