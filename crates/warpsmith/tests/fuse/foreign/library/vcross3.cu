#include "types.cuh"

// A helper that takes pointers, and implementations that make them in different ways.
static __device__ void cross3(const float *u, const float *v, float *w)
{
    w[0] = u[1] * v[2] - u[2] * v[1];
    w[1] = u[2] * v[0] - u[0] * v[2];
    w[2] = u[0] * v[1] - u[1] * v[0];
}

/*# vcross3_1_load_1 metadata
Data type = vector3
Data location = shared
Other parameters = tx, bx
#*/
__device__ void d_vcross3_1_load_1(vector3 g, float *s, int tx, int bx)
{
    for (int i = 0; i < 3; i++) s[tx + i * VCROSS3_1_BX] = g[bx * 3 * VCROSS3_1_BX + tx + i * VCROSS3_1_BX];
}

__device__ __noinline__ void d_vcross3_1_compute(float *u, float *v, float *w, int tx)
{
    cross3(u + tx * 3, v + 3 * tx, w + 3 * tx);
}

/*# vcross3_1_save metadata
Data type = vector3
Data location = shared
Other parameters = tx, bx
#*/
__device__ void d_vcross3_1_save(float *s, vector3 g, int tx, int bx)
{
    for (int i = 0; i < 3; i++) g[bx * 3 * VCROSS3_1_BX + tx + i * VCROSS3_1_BX] = s[tx + i * VCROSS3_1_BX];
}

/*# vcross3_1 metadata
GX = size
GY = 1
GZ = 1
BX = size (recommended 96)
BY = 1
BZ = 1
BATCH = size (recommended 1)
#*/
__global__ void cu_vcross3_1(vector3 u, vector3 v, vector3 w) {}

static float minor2(float a, float b, float c, float d) { return a * d - b * c; }

void vcross3_cpu(const float *u, const float *v, float *w)
{
    w[0] = minor2(u[1], u[2], v[1], v[2]);
    w[1] = minor2(u[2], u[0], v[2], v[0]);
    w[2] = minor2(u[0], u[1], v[0], v[1]);
}
