#include <math.h>
#include <stdint.h>

static const int Gx[3][3] = {{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}};
static const int Gy[3][3] = {{1, 2, 1}, {0, 0, 0}, {-1, -2, -1}};

void sobel(const uint8_t *in, uint8_t *out, int width, int height)
{
#pragma omp parallel for collapse(2)
    for (int y = 1; y < height - 1; y++) {
        for (int x = 1; x < width - 1; x++) {
            int sx = 0, sy = 0;
            for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++) {
                    uint8_t px = in[(y + dy) * width + (x + dx)];
                    sx += px * Gx[dy + 1][dx + 1];
                    sy += px * Gy[dy + 1][dx + 1];
                }
            int mag = (int)sqrtf((float)(sx * sx + sy * sy));
            out[y * width + x] = mag > 255 ? 255 : (uint8_t)mag;
        }
    }
}
