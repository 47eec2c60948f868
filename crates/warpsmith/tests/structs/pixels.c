#include <stdint.h>
typedef struct { unsigned char r, g, b; } RGB;
void f(int n, const RGB in[n], uint8_t out[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        out[i] = (uint8_t)((77 * in[i].r + 150 * in[i].g + 29 * in[i].b) >> 8);
}
