#include <math.h>
#define R 3

static inline int clampi(int v, int lo, int hi) { return v < lo ? lo : (v > hi ? hi : v); }
static inline float sq(float x) { return x * x; }

void bilateral(const float *src, float *dst, int w, int h, float sigma_s, float sigma_r)
{
    const float is = -0.5f / sq(sigma_s), ir = -0.5f / sq(sigma_r);
    int x, y;
#pragma omp parallel for private(x) schedule(dynamic)
    for (y = 0; y < h; ++y) {
        float *row = dst + y * w;
        for (x = 0; x < w; ++x) {
            float c = src[y * w + x], acc = 0, norm = 0;
            for (int j = -R; j <= R; ++j) {
                const float *p = src + clampi(y + j, 0, h - 1) * w;
                for (int i = -R; i <= R; ++i) {
                    float v = p[clampi(x + i, 0, w - 1)];
                    float wt = expf((i * i + j * j) * is + sq(v - c) * ir);
                    acc += wt * v;
                    norm += wt;
                }
            }
            row[x] = acc / norm;
        }
    }
}
