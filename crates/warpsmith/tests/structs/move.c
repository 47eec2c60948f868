typedef struct { float pos[3]; float vel[3]; int alive; } Particle;
void f(int n, float dt, Particle p[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        if (!p[i].alive) continue;
        for (int k = 0; k < 3; k++) p[i].pos[k] += dt * p[i].vel[k];
    }
}
