typedef struct {
    int n, c, h, w;
    int k, r, s;
    int stride, pad, dil, groups;
} conv_t;

void conv2d_forward(const float *x, const float *wgt, const float *bias, float *y, conv_t p)
{
    const int oh = (p.h + 2 * p.pad - p.dil * (p.r - 1) - 1) / p.stride + 1;
    const int ow = (p.w + 2 * p.pad - p.dil * (p.s - 1) - 1) / p.stride + 1;
    const int cg = p.c / p.groups, kg = p.k / p.groups;

#pragma omp parallel for collapse(2)
    for (int n = 0; n < p.n; n++) {
        for (int k = 0; k < p.k; k++) {
            int g = k / kg;
            for (int i = 0; i < oh; i++) {
                for (int j = 0; j < ow; j++) {
                    float acc = bias ? bias[k] : 0.f;
                    for (int c = 0; c < cg; c++)
                        for (int r = 0; r < p.r; r++) {
                            int ih = i * p.stride - p.pad + r * p.dil;
                            if (ih < 0 || ih >= p.h) continue;
                            for (int s = 0; s < p.s; s++) {
                                int iw = j * p.stride - p.pad + s * p.dil;
                                if (iw < 0 || iw >= p.w) continue;
                                acc += x[((n * p.c + g * cg + c) * p.h + ih) * p.w + iw] *
                                       wgt[((k * cg + c) * p.r + r) * p.s + s];
                            }
                        }
                    y[((n * p.k + k) * oh + i) * ow + j] = acc;
                }
            }
        }
    }
}
