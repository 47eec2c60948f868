#include <complex.h>
void f(int n, float s, const float complex x[n], float complex y[n], float mag[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        y[i] = conjf(x[i]) * s + y[i] / (x[i] + 3.0f);
        mag[i] = cabsf(y[i]) - cargf(x[i]);
    }
}
