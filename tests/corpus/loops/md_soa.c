#include <math.h>
typedef struct particles {
    double *x, *y, *z;
    double *fx, *fy, *fz;
    int n;
    double box;
} particles_t;

/* Lennard-Jones with a cut-off and the minimum image, all pairs */
double forces(particles_t *sys, double eps, double sigma, double rcut)
{
    double epot = 0.0;
    const double c12 = 4.0 * eps * pow(sigma, 12.0), c6 = 4.0 * eps * pow(sigma, 6.0);
    const double rcsq = rcut * rcut, half = 0.5 * sys->box;
#pragma omp parallel for reduction(+ : epot)
    for (int i = 0; i < sys->n; ++i) {
        double ax = 0, ay = 0, az = 0;
        for (int j = 0; j < sys->n; ++j) {
            if (i == j) continue;
            double rx = sys->x[i] - sys->x[j];
            double ry = sys->y[i] - sys->y[j];
            double rz = sys->z[i] - sys->z[j];
            while (rx > half) rx -= sys->box;
            while (rx < -half) rx += sys->box;
            double rsq = rx * rx + ry * ry + rz * rz;
            if (rsq < rcsq && rsq > 0) {
                double rinv = 1.0 / rsq;
                double r6 = rinv * rinv * rinv;
                double ffac = (12.0 * c12 * r6 - 6.0 * c6) * r6 * rinv;
                epot += 0.5 * r6 * (c12 * r6 - c6);
                ax += rx * ffac;
                ay += ry * ffac;
                az += rz * ffac;
            }
        }
        sys->fx[i] = ax;
        sys->fy[i] = ay;
        sys->fz[i] = az;
    }
    return epot;
}
