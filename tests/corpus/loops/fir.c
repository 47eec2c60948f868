void fir(const float *in, float *out, const float *coeffs, int len, int ntaps)
{
    int n;
#pragma omp parallel for
    for (n = 0; n < len; n++) {
        const float *x = in + n;
        const float *c, *end = coeffs + ntaps;
        float acc = 0.0f;
        for (c = coeffs; c < end; c++)
            acc += *c * *x++;
        out[n] = acc;
    }
}
