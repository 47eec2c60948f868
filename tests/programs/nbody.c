/* Gravity, all pairs. usage: nbody [bodies] [steps] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SOFTENING 1e-3
#define DT 0.01

typedef struct {
    const char *name;
    int bodies, steps;
} config_t;

static config_t config = { "plummer", 512, 4 };

static void accelerations(int n, const double x[n], const double y[n], const double z[n],
                          const double m[n], double ax[n], double ay[n], double az[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double sx = 0, sy = 0, sz = 0;
        for (int j = 0; j < n; j++) {
            double dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
            double r2 = dx * dx + dy * dy + dz * dz + SOFTENING;
            double w = m[j] / (r2 * sqrt(r2));
            sx += w * dx;
            sy += w * dy;
            sz += w * dz;
        }
        ax[i] = sx;
        ay[i] = sy;
        az[i] = sz;
    }
}

static double uniform(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) / 16777216.0 - 0.5;
}

int main(int argc, char **argv)
{
    if (argc > 1) config.bodies = atoi(argv[1]);
    if (argc > 2) config.steps = atoi(argv[2]);
    int n = config.bodies;
    double *all = malloc(10 * (size_t)n * sizeof *all);
    if (!all) return 1;
    double *x = all, *y = x + n, *z = y + n, *m = z + n;
    double *vx = m + n, *vy = vx + n, *vz = vy + n;
    double *ax = vz + n, *ay = ax + n, *az = ay + n;
    unsigned seed = 42;
    for (int i = 0; i < n; i++) {
        x[i] = uniform(&seed), y[i] = uniform(&seed), z[i] = uniform(&seed);
        m[i] = 1.0 / n;
        vx[i] = vy[i] = vz[i] = 0;
    }
    for (int t = 0; t < config.steps; t++) {
        accelerations(n, x, y, z, m, ax, ay, az);
        for (int i = 0; i < n; i++) {
            vx[i] += DT * ax[i], vy[i] += DT * ay[i], vz[i] += DT * az[i];
            x[i] += DT * vx[i], y[i] += DT * vy[i], z[i] += DT * vz[i];
        }
    }
    double e = 0;
    for (int i = 0; i < n; i++)
        e += 0.5 * m[i] * (vx[i] * vx[i] + vy[i] * vy[i] + vz[i] * vz[i]);
    printf("%s: %d bodies, kinetic energy %.8e, first at %.6f %.6f %.6f\n", config.name, n, e, x[0],
           y[0], z[0]);
    free(all);
    return 0;
}
