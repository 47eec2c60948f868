// Separable blur: along the rows into tmp, then along the columns. At the border the
// nearest pixel is repeated.
// warpsmith: size h=2048 w=2048

static const float weight[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};

static inline int clamp(int i, int limit)
{
    return i < 0 ? 0 : i < limit ? i : limit - 1;
}

void blur(int h, int w, const float image[h][w], float tmp[h][w], float out[h][w])
{
    #pragma omp parallel for collapse(2)
    for (int y = 0; y < h; y++) {
        for (int x = 0; x < w; x++) {
            float sum = 0.0f;
            for (int d = -2; d <= 2; d++) {
                sum += weight[d + 2] * image[y][clamp(x + d, w)];
            }
            tmp[y][x] = sum;
        }
    }

    #pragma omp parallel for collapse(2)
    for (int y = 0; y < h; y++) {
        for (int x = 0; x < w; x++) {
            float sum = 0.0f;
            for (int d = -2; d <= 2; d++) {
                sum += weight[d + 2] * tmp[clamp(y + d, h)][x];
            }
            out[y][x] = sum;
        }
    }
}
