/* usage: sharpen [w] [h] */
#include <stdio.h>
#include <stdlib.h>
#include "image.h"

int main(int argc, char **argv)
{
    int w = argc > 1 ? atoi(argv[1]) : 64, h = argc > 2 ? atoi(argv[2]) : 48;
    Image in = {w, h, w + 3, malloc((size_t)(w + 3) * h * sizeof(float))};
    Image out = {w, h, w, calloc((size_t)w * h, sizeof(float))};
    for (int i = 0; i < (w + 3) * h; i++)
        in.pixels[i] = i * 7 % 256;
    Filter f = {5.0f, 1.0f};
    sharpen(in, out, f);
    double sum = 0, middle = out.pixels[h / 2 * w + w / 2];
    for (int i = 0; i < w * h; i++)
        sum += out.pixels[i] * (i % 5 - 2);
    printf("%.1f %.1f\n", sum, middle);
    free(in.pixels);
    free(out.pixels);
    return 0;
}
