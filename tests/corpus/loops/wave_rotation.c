/* Acoustic wave: three time levels in turn */
void wave(float *prev, float *cur, float *next, const float *vel, int nx, int nz, int nt)
{
    for (int t = 0; t < nt; t++) {
        #pragma omp parallel for
        for (int iz = 1; iz < nz - 1; iz++) {
            for (int ix = 1; ix < nx - 1; ix++) {
                int k = iz * nx + ix;
                float lap = cur[k - 1] + cur[k + 1] + cur[k - nx] + cur[k + nx] - 4.0f * cur[k];
                next[k] = 2.0f * cur[k] - prev[k] + vel[k] * lap;
            }
        }
        float *tmp = prev;
        prev = cur;
        cur = next;
        next = tmp;
    }
}
