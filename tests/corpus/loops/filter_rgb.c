/* A 3 x 3 filter over pixels of three bytes; the border is left alone. */
typedef unsigned char byte;

void filter_rgb(int h, int w, const byte *in, const float *weight, byte *out)
{
    #pragma omp parallel for collapse(2)
    for (int y = 1; y < h - 1; y++)
        for (int x = 1; x < w - 1; x++)
            for (int c = 0; c < 3; c++) {
                float sum = 0.0f;
                for (int dy = 0; dy < 3; dy++)
                    for (int dx = 0; dx < 3; dx++)
                        sum += weight[dy * 3 + dx] * in[((y + dy - 1) * w + x + dx - 1) * 3 + c];
                out[(y * w + x) * 3 + c] = (byte)sum;
            }
}
