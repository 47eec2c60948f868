#include <math.h>
struct P { float x, y, z, m; };
void f(int n, const struct P p[n], struct P a[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        struct P s = p[i];
        float ax = 0.0f, ay = 0.0f, az = 0.0f;
        for (int j = 0; j < n; j++) {
            struct P q = p[j];
            float dx = q.x - s.x, dy = q.y - s.y, dz = q.z - s.z;
            float r2 = dx * dx + dy * dy + dz * dz + 0.01f;
            float w = q.m / (r2 * sqrtf(r2));
            ax += w * dx; ay += w * dy; az += w * dz;
        }
        a[i] = (struct P){ax, ay, az, s.m};
    }
}
