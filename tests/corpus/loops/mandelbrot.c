#include <stdint.h>
#define MAXIT 255

static int escapes(double cr, double ci)
{
    double zr = 0, zi = 0;
    int it = 0;
    while (zr * zr + zi * zi < 4.0 && it < MAXIT) {
        double tmp = zr * zr - zi * zi + cr;
        zi = 2 * zr * zi + ci;
        zr = tmp;
        it++;
    }
    return it;
}

void mandel(uint8_t *image, int w, int h, double x0, double y0, double scale)
{
    const int total = w * h;
#pragma omp parallel for schedule(dynamic, 256)
    for (int t = 0; t < total; t++) {
        int px = t % w, py = t / w;
        image[t] = (uint8_t)escapes(x0 + px * scale, y0 + py * scale);
    }
}
