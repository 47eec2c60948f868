// Shifts and scales a vector to zero mean and unit variance, in one parallel region.
// warpsmith: size n=16777216

#include <math.h>

void normalise(int n, float x[n])
{
    float sum = 0.0f, squares = 0.0f;

    #pragma omp parallel
    {
        #pragma omp for reduction(+: sum, squares)
        for (int i = 0; i < n; i++) {
            sum += x[i];
            squares += x[i] * x[i];
        }

        float mean = sum / n;
        float scale = 1.0f / sqrtf(squares / n - mean * mean);

        #pragma omp for
        for (int i = 0; i < n; i++) {
            x[i] = (x[i] - mean) * scale;
        }
    }
}
