#include <stdio.h>

#define IN_RANGE(x, min, max) ((x) >= (min) && (x) <= (max))
#define CLAMP_RANGE(x, min, max) x = (x < (min)) ? min : ((x > (max)) ? max : x)
#define MIN(a, b) ((a) <= (b) ? (a) : (b))

void pathfinder(int rows, int cols, const int *wall, int *src, int *dst)
{
    int *temp, min;
    for (int n = 0; n < cols; n++) dst[n] = wall[n];

    for (int t = 0; t < rows - 1; t++) {
        temp = src;
        src = dst;
        dst = temp;
#pragma omp parallel for private(min)
        for (int n = 0; n < cols; n++) {
            min = src[n];
            if (n > 0) min = MIN(min, src[n - 1]);
            if (n < cols - 1) min = MIN(min, src[n + 1]);
            dst[n] = wall[(t + 1) * cols + n] + min;
        }
    }
}
