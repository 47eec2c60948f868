#include <stdint.h>

typedef struct { uint8_t r, g, b, a; } Pixel;

void to_gray(Pixel *pixels, int count, float gamma_scale) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < count; ++i) {
    Pixel *p = &pixels[i];
    float lum = 0.299f * p->r + 0.587f * p->g + 0.114f * p->b;
    lum *= gamma_scale;
    if (lum > 255.0f) lum = 255.0f;
    p->r = p->g = p->b = (uint8_t)(lum + 0.5f);
  }
}
