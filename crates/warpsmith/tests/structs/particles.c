#include <stdbool.h>
#include <stddef.h>
typedef double vec3[3];
typedef struct {
    char name[8];
    double *x, *v;
    const double *mass;
    vec3 box;
    bool periodic;
    size_t n;
    double energy;
    void (*hook)(int);
} system_t;

static double wrapped(const system_t *s, double x) {
    if (s->periodic && x > s->box[0]) return x - s->box[0];
    return x;
}

double f(system_t *sys, double dt) {
    double sum = 0.0;
    size_t i;
#pragma omp parallel for default(none) shared(sys, dt) reduction(+ : sum)
    for (i = 0; i < sys->n; i++) {
        sys->v[i] *= 0.5;
        (*sys).x[i] = wrapped(sys, sys->x[i] + dt * sys->v[i]);
        sum += 0.5 * sys->mass[i] * sys->v[i] * sys->v[i];
    }
    sys->energy = sum;
    sys->energy += 1.0;
    return sum / sys->n;
}
