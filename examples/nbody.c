// Gravitational acceleration of n bodies by direct summation, softened near zero distance.
// warpsmith: size n=16384

#include <math.h>

void nbody(int n, float softening, const float x[n], const float y[n], const float z[n],
           const float mass[n], float ax[n], float ay[n], float az[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float sx = 0.0f, sy = 0.0f, sz = 0.0f;
        for (int j = 0; j < n; j++) {
            float dx = x[j] - x[i];
            float dy = y[j] - y[i];
            float dz = z[j] - z[i];
            float r2 = dx * dx + dy * dy + dz * dz + softening;
            float r = 1.0f / sqrtf(r2);
            float s = mass[j] * r * r * r;
            sx += s * dx;
            sy += s * dy;
            sz += s * dz;
        }
        ax[i] = sx;
        ay[i] = sy;
        az[i] = sz;
    }
}
