#include <stddef.h>
#include <string.h>

void histogram_rgb(const unsigned char *img, size_t npix, unsigned int *hr, unsigned int *hg, unsigned int *hb)
{
    for (int b = 0; b < 256; b++) hr[b] = hg[b] = hb[b] = 0;
#pragma omp parallel for
    for (size_t i = 0; i < npix; i++) {
        const unsigned char *px = &img[3 * i];
#pragma omp atomic
        hr[px[0]]++;
#pragma omp atomic
        hg[px[1]]++;
#pragma omp atomic
        hb[px[2]]++;
    }
}
