#include "times.cuh"
#define SIDE 3

__device__ inline int row(int i) { return i * SIDE; }

/*# product_2_load_1 metadata
Data type = matrix3x3
Data location = shared
Other parameters = tx, ty, bx
LSPATTERN = start "ty*3+tx", block "1", stride "PRODUCT_2_BY*3", count 3, noreg 0
#*/
__device__ inline void d_product_2_load_1(matrix3x3 m, float *s_m, int tx, int ty, int bx) {
    int gofs = bx * SIDE * SIDE * PRODUCT_2_BY + ty * SIDE + tx;
    int sofs = APLS;
    #pragma unroll
    for (int i = 0; i < SIDE; i++) {
        s_m[sofs] = m[gofs];
        gofs += PRODUCT_2_BY * SIDE;
        sofs += PRODUCT_2_BY * SIDE;
    }
}

/*# product_2_save metadata
Data type = matrix3x3
Data location = shared
Other parameters = tx, ty, bx
LSPATTERN = start "ty*3+tx", block "1", stride "PRODUCT_2_BY*3", count 3, noreg 0
#*/
__device__ inline void d_product_2_save(float *s_m, matrix3x3 m, int tx, int ty, int bx) {
    int gofs = bx * SIDE * SIDE * PRODUCT_2_BY + ty * SIDE + tx;
    int sofs = APLS;
    #pragma unroll
    for (int i = 0; i < SIDE; i++) {
        m[gofs] = s_m[sofs];
        gofs += PRODUCT_2_BY * SIDE;
        sofs += PRODUCT_2_BY * SIDE;
    }
}

__device__ inline void d_product_2_compute(float *s_a, float *s_b, float *s_c, int tx, int ty) {
    #pragma unroll
    for (int i = 0; i < SIDE; i++) {
        float tmp = 0.0f;
        #pragma unroll
        for (int k = 0; k < SIDE; k++) tmp += times(s_a[APIN0 + k], s_b[APIN1 + row(k) + i]);
        s_c[APOUT + i] = tmp;
    }
}

/*# product_2 metadata
GX = size
GY = 1
GZ = 1
BX = 3
BY = size (recommended 16)
BZ = 1
BATCH = 2
INPATTERN 0 = start "ty*9+tx*3", block "1", stride "1", count 3, noreg 0
INPATTERN 1 = start "ty*9", block "1", stride "1", count 9, noreg 0
OUTPATTERN = start "ty*9+tx*3", block "1", stride "1", count 3, noreg 0
#*/
__global__ void cu_product_2(matrix3x3 a, matrix3x3 b, matrix3x3 c) {
}

void product_cpu(const float *a, const float *b, float *c) {
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            float sum = 0.0f;
            for (int k = 0; k < SIDE; k++) sum += a[i * SIDE + k] * b[k * SIDE + j];
            c[i * SIDE + j] = sum;
        }
}
