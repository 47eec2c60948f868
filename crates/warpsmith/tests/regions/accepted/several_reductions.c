// warpsmith: size n=4096
void stats(int n, const float x[n], float out[4])
{
    float s = 0, q = 0, lo = 1e30f, hi = -1e30f;
    #pragma omp parallel for reduction(+: s, q) reduction(min: lo) reduction(max: hi)
    for (int i = 0; i < n; i++) {
        s += x[i]; q += x[i] * x[i];
        if (x[i] < lo) lo = x[i];
        if (x[i] > hi) hi = x[i];
    }
    out[0] = s; out[1] = q; out[2] = lo; out[3] = hi;
}
