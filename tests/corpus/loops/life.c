#include <stdbool.h>
#define AT(g, r, c) (g)[((r) + rows) % rows * cols + ((c) + cols) % cols]

void life_step(const unsigned char *cur, unsigned char *next, int rows, int cols)
{
#pragma omp parallel for
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c++) {
            int alive = 0;
            for (int dr = -1; dr <= 1; dr++)
                for (int dc = -1; dc <= 1; dc++) {
                    if (dr == 0 && dc == 0) continue;
                    alive += AT(cur, r + dr, c + dc);
                }
            bool me = cur[r * cols + c];
            next[r * cols + c] = (me && (alive == 2 || alive == 3)) || (!me && alive == 3);
        }
}
