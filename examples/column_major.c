// Scales the columns of a column-major matrix to unit length: element (i, j) is a[j][i].
// warpsmith: size rows=2048 columns=2048

#include <math.h>

void column_major(int rows, int columns, float a[columns][rows])
{
    int i, j;

    //SIMD
    for (j = 0; j < columns; j++) {
        float squares = 0.0f;
        for (i = 0; i < rows; i++) {
            squares += a[j][i] * a[j][i];
        }
        float scale = squares > 0.0f ? 1.0f / sqrtf(squares) : 0.0f;
        for (i = 0; i < rows; i++) {
            a[j][i] *= scale;
        }
    }
}
