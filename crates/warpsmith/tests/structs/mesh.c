#include <stdint.h>
struct cell { float p, q; };
struct mesh { int32_t cells; struct cell *cell; struct { float scale, unused; } unit; };
struct domain { double time; struct mesh *mesh; float *flux; int steps; };

void f(struct domain *const dom) {
    for (int t = 0; t < dom->steps; ++t) {
#pragma omp parallel for shared(dom)
        for (int i = 0; i < dom->mesh->cells; ++i) {
            dom->flux[i] += dom->mesh->unit.scale * (dom->mesh->cell[i].p - dom->mesh->cell[i].q);
            dom->mesh->cell[i].q = 0.5f * dom->flux[i];
        }
    }
}
