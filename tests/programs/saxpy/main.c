/* usage: saxpy [n] */
#include <stdio.h>
#include <stdlib.h>
#include "common.h"

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 100000;
    float *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y);
    for (int i = 0; i < n; i++) {
        x[i] = i % 100;
        y[i] = i % 7;
    }
    saxpy(n, SCALE, x, y);
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += y[i];
    printf("%.1f\n", sum);
    free(x);
    free(y);
    return 0;
}
