typedef struct body { float x, v; } body;
static void kick(body *b, float dt) { b->v -= dt * b->x; b->x += dt * b->v; }
void f(int n, float dt, body b[n])
{
    #pragma ws independent
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        body *p = &b[i];
        kick(p, dt);
        p->x *= 0.5f;
    }
}
