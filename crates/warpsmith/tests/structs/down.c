#include <stddef.h>
#include <math.h>
void f(size_t n, float a[n][8], float s[n])
{
    #pragma omp parallel for
    for (size_t i = 0; i < n; i++) {
        float t = 0;
        for (size_t j = 8; j-- > 0;) t = t * 0.5f + a[i][j];
        s[i] = fmaf(t, 2.0f, 1.0f);
    }
}
