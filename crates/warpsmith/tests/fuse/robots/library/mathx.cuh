#ifndef MATHX_CUH
#define MATHX_CUH
#include <math.h>
#define SQ(x) ((x) * (x))
struct two { float a, b; };
template <int N>
__device__ __host__ inline float dotn(const float *a, const float *b)
{
    float s = 0.0f;
    for (int k = 0; k < N; k++) s += a[k] * b[k];
    return s;
}
#endif
