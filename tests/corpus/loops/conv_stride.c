/* Channels last, stride and padding as parameters, skipped taps. */
void conv_stride(int height, int width, int cin, int cout, int oh, int ow, int stride, int pad,
                 const float *image, const float *filter, const float *bias, float *result)
{
    #pragma omp parallel for collapse(2)
    for (int y = 0; y < oh; y++)
        for (int x = 0; x < ow; x++)
            for (int o = 0; o < cout; o++) {
                float acc = bias[o];
                for (int ky = 0; ky < 3; ky++) {
                    int iy = y * stride + ky - pad;
                    if (iy < 0 || iy >= height) continue;
                    for (int kx = 0; kx < 3; kx++) {
                        int ix = x * stride + kx - pad;
                        if (ix < 0 || ix >= width) continue;
                        for (int c = 0; c < cin; c++)
                            acc += image[(iy * width + ix) * cin + c] * filter[((ky * 3 + kx) * cin + c) * cout + o];
                    }
                }
                result[(y * ow + x) * cout + o] = acc > 0.0f ? acc : 0.0f;
            }
}
