#include <stddef.h>
struct ell { int rows, width, cols; };

void spmv_ell(struct ell m, const int *cols, const float *vals, const float *x, float *y)
{
    #pragma omp parallel for
    for (int row = 0; row < m.rows; ++row) {
        float dot = 0;
        for (int n = 0; n < m.width; ++n) {
            int col = cols[m.rows * n + row];
            float val = vals[m.rows * n + row];
            if (col < 0) break;
            if (val != 0) dot += val * x[col];
        }
        y[row] += dot;
    }
}
