#include <math.h>
typedef enum { LINEAR, RELU, LEAKY, ELU, LOGISTIC, TANH, GELU } ACTIVATION;

static inline float activate(float x, ACTIVATION a)
{
    switch (a) {
    case LINEAR: return x;
    case RELU: return x * (x > 0);
    case LEAKY: return (x > 0) ? x : .1f * x;
    case ELU: return (x >= 0) * x + (x < 0) * (expf(x) - 1);
    case LOGISTIC: return 1.f / (1.f + expf(-x));
    case TANH: return (expf(2 * x) - 1) / (expf(2 * x) + 1);
    case GELU: return 0.5f * x * (1.f + tanhf(0.797884f * (x + 0.044715f * x * x * x)));
    }
    return 0;
}

void activate_array(float *x, const int n, int kind)
{
    int i;
#pragma omp parallel for
    for (i = 0; i < n; ++i)
        x[i] = activate(x[i], (ACTIVATION)(kind % 7));
}
