#include <stdint.h>

/* summed-area table: rows first, columns second */
void integral_image(const uint8_t *img, uint32_t *sum, int w, int h, int stride)
{
    #pragma omp parallel for
    for (int y = 0; y < h; y++) {
        const uint8_t *s = img + y * stride;
        uint32_t *d = sum + y * w;
        uint32_t acc = 0;
        for (int x = 0; x < w; x++) {
            acc += *s++;
            *d++ = acc;
        }
    }
    #pragma omp parallel for
    for (int x = 0; x < w; x++) {
        for (int y = 1; y < h; y++)
            sum[y * w + x] += sum[(y - 1) * w + x];
    }
}
