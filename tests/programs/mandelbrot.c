/* The Mandelbrot set as text. usage: mandelbrot [width] [height] */
#include <stdio.h>
#include <stdlib.h>

enum { MAX_ITER = 200 };

void mandelbrot(int w, int h, int out[h][w])
{
    #pragma omp parallel for schedule(dynamic)
    for (int py = 0; py < h; py++) {
        for (int px = 0; px < w; px++) {
            double cx = 3.5 * px / w - 2.5, cy = 2.0 * py / h - 1.0;
            double zx = 0, zy = 0;
            int it = 0;
            while (it < MAX_ITER && zx * zx + zy * zy <= 4.0) {
                double t = zx * zx - zy * zy + cx;
                zy = 2 * zx * zy + cy;
                zx = t;
                it++;
            }
            out[py][px] = it;
        }
    }
}

static void show(int w, int h, int out[h][w])
{
    static const char shades[] = " .:-=+*#%@";
    for (int y = 0; y < h; y += h / 16 + 1) {
        for (int x = 0; x < w; x += w / 64 + 1)
            putchar(shades[out[y][x] * 9 / MAX_ITER]);
        putchar('\n');
    }
}

int main(int argc, char **argv)
{
    int w = argc > 1 ? atoi(argv[1]) : 640, h = argc > 2 ? atoi(argv[2]) : 400;
    int (*out)[w] = malloc(sizeof(int[h][w]));
    mandelbrot(w, h, out);
    show(w, h, out);
    long long sum = 0;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            sum += out[y][x] / 8;
    printf("%lld\n", sum / 1000);
    free(out);
    return 0;
}
