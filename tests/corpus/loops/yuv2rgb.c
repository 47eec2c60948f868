#include <stdint.h>

typedef uint8_t u8;
#define CLIP(v) ((u8)((v) < 0 ? 0 : (v) > 255 ? 255 : (v)))

void yuv420_to_rgb(const u8 *yp, const u8 *up, const u8 *vp, u8 *rgb, int width, int height)
{
    int row, col;
#pragma omp parallel for private(col)
    for (row = 0; row < height; row++) {
        u8 *out = rgb + 3 * width * row;
        for (col = 0; col < width; col++, out += 3) {
            int c = yp[row * width + col] - 16;
            int d = up[(row >> 1) * (width / 2) + (col >> 1)] - 128;
            int e = vp[(row >> 1) * (width / 2) + (col >> 1)] - 128;

            out[0] = CLIP((298 * c + 409 * e + 128) >> 8);
            out[1] = CLIP((298 * c - 100 * d - 208 * e + 128) >> 8);
            out[2] = CLIP((298 * c + 516 * d + 128) >> 8);
        }
    }
}
