void global_avgpool(const float *in, float *out, int batch, int channels, int hw)
{
    long i, p;
    long total = (long)batch * channels;
#pragma omp parallel for private(p)
    for (i = total - 1; i >= 0; i--) {
        const float *src = in + i * hw;
        double s = 0;
        for (p = 0; p < hw; p++)
            s += *(src + p);
        *(out + i) = (float)(s / hw);
    }
}
