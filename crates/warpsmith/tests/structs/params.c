struct Params { int nx, ny; float dt, k[2]; };
void f(struct Params prm, int n, const float a[n], float b[n])
{
    #pragma omp parallel for
    for (int i = 0; i < prm.nx; i++)
        if (i < n) b[i] = a[i] + prm.dt * (prm.k[0] * a[i] - prm.k[1]);
}
