/* Images and the filter by value. */
#include "image.h"

void sharpen(Image in, Image out, Filter f)
{
    #pragma omp parallel for collapse(2)
    for (int y = 1; y < in.h - 1; y++)
        for (int x = 1; x < in.w - 1; x++) {
            const float *p = in.pixels + y * in.stride + x;
            float sides = p[-1] + p[1] + p[-in.stride] + p[in.stride];
            out.pixels[y * out.stride + x] = f.centre * p[0] - f.around * sides;
        }
}
