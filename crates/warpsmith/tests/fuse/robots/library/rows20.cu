#include "types.cuh"
/*# rows20_1_load_1 metadata
Data type = mat20
Data location = shared
Other parameters = tx, ty, bx
#*/
__device__ void d_rows20_1_load_1(mat20 g, float *s, int tx, int ty, int bx)
{
    for (int i = ty * ROWS20_1_BX + tx; i < 400 * ROWS20_1_BY; i += 20 * ROWS20_1_BY) s[i] = g[bx * 400 * ROWS20_1_BY + i];
}
__device__ void d_rows20_1_compute(float *a, float *r, int tx, int ty)
{
    float s = 0;
    for (int k = 0; k < 20; k++) s += a[ty * 400 + tx * 20 + k];
    r[ty * 20 + tx] = s;
}
/*# rows20_1_save metadata
Data type = vec20
Data location = shared
Other parameters = tx, ty, bx
#*/
__device__ void d_rows20_1_save(float *s, vec20 g, int tx, int ty, int bx)
{
    for (int i = ty * ROWS20_1_BX + tx; i < 20 * ROWS20_1_BY; i += 20 * ROWS20_1_BY) g[bx * 20 * ROWS20_1_BY + i] = s[i];
}
/*# rows20_1 metadata
GX = size
GY = 1
GZ = 1
BX = 20
BY = size
BZ = 1
BATCH = 1
#*/
__global__ void cu_rows20_1(mat20 a, vec20 r) {}
