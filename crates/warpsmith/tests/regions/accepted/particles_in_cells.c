// warpsmith: size np=2048
// warpsmith: size nx=64
void deposit(int np, int nx, const float pos[np], const float q[np], float rho[nx + 1])
{
    #pragma omp parallel for
    for (int p = 0; p < np; p++) {
        float x = (pos[p] + 1.0f) * 0.49f * nx;
        int i = (int)x;
        float w = x - i;
        #pragma omp atomic
        rho[i] += q[p] * (1.0f - w);
        #pragma omp atomic
        rho[i + 1] += q[p] * w;
    }
}
