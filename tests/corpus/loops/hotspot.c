#include <stdio.h>
#include <stdlib.h>

typedef float FLOAT;

#define MAX_PD (3.0e6)
#define STR_SIZE 256

/* one step of the transient solver of the chip's temperature grid */
void single_iteration(FLOAT *result, FLOAT *temp, FLOAT *power, int row, int col,
                      FLOAT Cap_1, FLOAT Rx_1, FLOAT Ry_1, FLOAT Rz_1, FLOAT amb_temp)
{
    int r, c;
    FLOAT delta;

#pragma omp parallel for shared(power, temp, result) private(r, c, delta) firstprivate(row, col) schedule(static)
    for (r = 0; r < row; ++r) {
        for (c = 0; c < col; ++c) {
            int idx = r * col + c;
            /* the four sides, mirrored at the border */
            FLOAT n = (r == 0) ? temp[idx] : temp[idx - col];
            FLOAT s = (r == row - 1) ? temp[idx] : temp[idx + col];
            FLOAT w = (c == 0) ? temp[idx] : temp[idx - 1];
            FLOAT e = (c == col - 1) ? temp[idx] : temp[idx + 1];

            delta = Cap_1 * (power[idx] +
                             (s + n - 2.f * temp[idx]) * Ry_1 +
                             (e + w - 2.f * temp[idx]) * Rx_1 +
                             (amb_temp - temp[idx]) * Rz_1);
            result[idx] = temp[idx] + delta;
        }
    }
}
