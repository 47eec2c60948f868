/* A chain of masses and springs, its state in a structure that leads to the arrays. usage: springs [n] [steps] */
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    double stiffness, damping;
} Material;

typedef struct {
    int n;
    Material material;
    double *x, *v, *force;
    double kinetic;
} Chain;

static double pull(const Chain *c, int i)
{
    const Material *m = &c->material;
    double left = i > 0 ? c->x[i - 1] - c->x[i] : -c->x[i];
    double right = i < c->n - 1 ? c->x[i + 1] - c->x[i] : -c->x[i];
    return m->stiffness * (left + right) - m->damping * c->v[i];
}

void move(Chain *c, double dt, int steps)
{
    if (c == NULL)
        return;
    for (int s = 0; s < steps; s++) {
        #pragma omp parallel for
        for (int i = 0; i < c->n; i++)
            c->force[i] = pull(c, i);
        double sum = 0;
        #pragma omp parallel for reduction(+: sum)
        for (int i = 0; i < c->n; i++) {
            c->v[i] += dt * c->force[i];
            c->x[i] += dt * c->v[i];
            sum += 0.5 * c->v[i] * c->v[i];
        }
        c->kinetic = sum;
    }
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1000;
    int steps = argc > 2 ? atoi(argv[2]) : 10;
    Chain c = {n, {4.0, 0.01}, malloc(n * sizeof(double)), calloc(n, sizeof(double)), calloc(n, sizeof(double)), 0};
    for (int i = 0; i < n; i++)
        c.x[i] = i % 10 / 10.0;
    move(&c, 0.01, steps);
    printf("%d masses, kinetic energy %.6f\n", c.n, c.kinetic);
    for (int i = 0; i < n; i += n / 5)
        printf("%.8f %.8f\n", c.x[i], c.v[i]);
    free(c.x);
    free(c.v);
    free(c.force);
    return 0;
}
