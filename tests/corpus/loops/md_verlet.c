typedef double vec3[3];
typedef struct {
    vec3 r, v, f;
    double mass;
    int type;
} Atom;

void velverlet(Atom *atoms, int natoms, double dt)
{
    int i, d;
#pragma omp parallel for private(i, d)
    for (i = 0; i < natoms; ++i) {
        Atom *a = atoms + i;
        for (d = 0; d < 3; ++d) {
            a->v[d] += 0.5 * dt / a->mass * a->f[d];
            a->r[d] += dt * a->v[d];
        }
        if (a->type == 2)
            continue;
        for (d = 0; d < 3; ++d) a->f[d] = 0.0;
    }
}
