#include "types.cuh"
#define SWAP(a, b) do { if (t[a] > t[b]) { float z = t[a]; t[a] = t[b]; t[b] = z; } } while (0)
/*# sort4_1_load_1 metadata
Data type = vec4
Data location = shared
Other parameters = tx, bx
#*/
__device__ void d_sort4_1_load_1(vec4 m, float *s, int tx, int bx)
{
    float4 *to = (float4 *)s;
    const float4 *from = (const float4 *)m + bx * SORT4_1_BX;
    to[tx] = from[tx];
}
__device__ void d_sort4_1_compute(float *v, float *r, int tx)
{
    float t[4];
    for (int i = 0; i < 4; i++) t[i] = v[4 * tx + i];
    SWAP(0, 1); SWAP(2, 3); SWAP(0, 2); SWAP(1, 3); SWAP(1, 2);
    for (int i = 0; i < 4; i++) r[4 * tx + i] = t[i];
}
/*# sort4_1_save metadata
Data type = vec4
Data location = shared
Other parameters = tx, bx
#*/
__device__ void d_sort4_1_save(float *s, vec4 m, int tx, int bx)
{
    ((float4 *)m)[bx * SORT4_1_BX + tx] = ((float4 *)s)[tx];
}
/*# sort4_1 metadata
GX = size
GY = 1
GZ = 1
BX = size (recommended 128)
BY = 1
BZ = 1
BATCH = size (recommended 1)
#*/
__global__ void cu_sort4_1(vec4 m, vec4 r) {}
