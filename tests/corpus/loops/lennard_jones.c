#include <math.h>

typedef struct { float x, y, z; } vec3;

/* Lennard-Jones forces and energy by a full neighbour list */
void lj_forces(int natoms, int maxneigh, const vec3 *pos, const int *numneigh, const int *neigh,
               vec3 *force, float cutsq, float *pe)
{
    float etot = 0.f;
    #pragma omp parallel for reduction(+:etot) schedule(guided)
    for (int i = 0; i < natoms; i++) {
        vec3 f = {0, 0, 0};
        const int *nl = neigh + i * maxneigh;
        for (int jj = 0; jj < numneigh[i]; jj++) {
            int j = nl[jj];
            float dx = pos[i].x - pos[j].x, dy = pos[i].y - pos[j].y, dz = pos[i].z - pos[j].z;
            float rsq = dx*dx + dy*dy + dz*dz;
            if (rsq >= cutsq || rsq == 0.0f) continue;
            float r2 = 1.0f / rsq, r6 = r2*r2*r2;
            float ff = 48.0f * r6 * (r6 - 0.5f) * r2;
            f.x += ff*dx; f.y += ff*dy; f.z += ff*dz;
            etot += 4.0f*r6*(r6 - 1.0f);
        }
        force[i] = f;
    }
    *pe = etot;
}
