#include <stdint.h>
#include <math.h>

static inline float lerp(float a, float b, float t) { return a + (b - a) * t; }

void resize_bilinear(const uint8_t *src, int sw, int sh, uint8_t *dst, int dw, int dh, int ch)
{
    float xs = (float)sw / dw;
    float ys = (float)sh / dh;

#pragma omp parallel for
    for (int y = 0; y < dh; y++) {
        float fy = (y + 0.5f) * ys - 0.5f;
        int y0 = (int)floorf(fy);
        float ty = fy - y0;
        int y1 = y0 + 1;
        if (y0 < 0) y0 = 0;
        if (y0 > sh - 1) y0 = sh - 1;
        if (y1 < 0) y1 = 0;
        if (y1 > sh - 1) y1 = sh - 1;
        for (int x = 0; x < dw; x++) {
            float fx = (x + 0.5f) * xs - 0.5f;
            int x0 = (int)floorf(fx);
            float tx = fx - x0;
            int x1 = x0 + 1;
            if (x0 < 0) x0 = 0;
            if (x0 > sw - 1) x0 = sw - 1;
            if (x1 < 0) x1 = 0;
            if (x1 > sw - 1) x1 = sw - 1;
            for (int c = 0; c < ch; c++) {
                float top = lerp(src[(y0 * sw + x0) * ch + c], src[(y0 * sw + x1) * ch + c], tx);
                float bot = lerp(src[(y1 * sw + x0) * ch + c], src[(y1 * sw + x1) * ch + c], tx);
                dst[(y * dw + x) * ch + c] = (uint8_t)(lerp(top, bot, ty) + 0.5f);
            }
        }
    }
}
