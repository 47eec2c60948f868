// function: relax
// Extents are macros, loops go up to parameters, and `main` says how large they are; the region's variables count three
// loops deep, the time loop belongs to one thread and the loops in it to all.
#include <stdio.h>
#include <stdlib.h>

#define ROWS 48
#define COLUMNS 40
#define STEPS 3

static void relax(int rows, int columns, int steps, double from[ROWS][COLUMNS], double to[ROWS][COLUMNS],
                  double weights[5][5]) {
    int t, i, j, k, l;
#pragma omp parallel private(t, i, j, k, l)
    {
#pragma omp master
        {
            for (t = 0; t < steps; t++) {
#pragma omp for
                for (i = 2; i < rows - 2; i++)
                    for (j = 2; j < columns - 2; j++) {
                        to[i][j] = 0.0;
                        for (k = 0; k < 5; k++)
                            for (l = 0; l < 5; l++)
                                to[i][j] += weights[k][l] * from[i + k - 2][j + l - 2];
                    }
#pragma omp barrier
#pragma omp for collapse(2) schedule(static)
                for (i = 2; i < rows - 2; i++)
                    for (j = 2; j < columns - 2; j++)
                        from[i][j] = to[i][j];
#pragma omp barrier
            }
        }
    }
}

int main(int argc, char **argv) {
    int rows = ROWS;
    int columns = COLUMNS;
    double (*from)[ROWS][COLUMNS] = malloc(sizeof *from), (*to)[ROWS][COLUMNS] = malloc(sizeof *to);
    double (*weights)[5][5] = malloc(sizeof *weights);
    relax(rows, columns, STEPS, *from, *to, *weights);
    printf("%f\n", (*to)[rows / 2][columns / 2]);
    return argc > 42;
}
