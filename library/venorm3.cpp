#include <cmath>

// Euclidean norm of a vector: s = |v|.
void venorm3_cpu(const float *v, float *s)
{
    float sum = 0.0f;
    for (int k = 0; k < 3; k++) sum += v[k] * v[k];
    s[0] = sqrtf(sum);
}
