#include <cmath>

// Absolute value of the scalar product of two vectors: s = |u . v|.
void vvmulabs3_cpu(const float *u, const float *v, float *s)
{
    float sum = 0.0f;
    for (int k = 0; k < 3; k++) sum += u[k] * v[k];
    s[0] = fabsf(sum);
}
