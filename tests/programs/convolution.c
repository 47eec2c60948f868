/* Blurs a picture with a 5 x 5 filter. usage: convolution [width] [height] */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define R 2

static const float filter[2 * R + 1][2 * R + 1] = {
    { 1, 4, 6, 4, 1 },
    { 4, 16, 24, 16, 4 },
    { 6, 24, 36, 24, 6 },
    { 4, 16, 24, 16, 4 },
    { 1, 4, 6, 4, 1 },
};

void blur(int w, int h, const uint8_t in[h][w], uint8_t out[h][w])
{
    #pragma omp parallel for collapse(2)
    for (int y = 0; y < h; y++) {
        for (int x = 0; x < w; x++) {
            float sum = 0.0f;
            for (int dy = -R; dy <= R; dy++) {
                for (int dx = -R; dx <= R; dx++) {
                    int yy = y + dy < 0 ? 0 : y + dy >= h ? h - 1 : y + dy;
                    int xx = x + dx < 0 ? 0 : x + dx >= w ? w - 1 : x + dx;
                    sum += filter[dy + R][dx + R] * in[yy][xx];
                }
            }
            out[y][x] = (uint8_t)(sum / 256.0f + 0.5f);
        }
    }
}

int main(int argc, char **argv)
{
    int w = argc > 1 ? atoi(argv[1]) : 500, h = argc > 2 ? atoi(argv[2]) : 300;
    uint8_t *in = malloc((size_t)w * h), *out = malloc((size_t)w * h);
    for (int i = 0; i < w * h; i++)
        in[i] = (uint8_t)((i * 7919u) >> 5);
    blur(w, h, (const uint8_t (*)[w])in, (uint8_t (*)[w])out);
    uint32_t hash = 2166136261u;
    for (int i = 0; i < w * h; i++)
        hash = (hash ^ out[i]) * 16777619u;
    printf("%dx%d %08x\n", w, h, hash);
    free(in);
    free(out);
    return 0;
}
