/* The two-dimensional Laplacian in compressed rows, applied a few times. usage: spmv [k] */
#include <stdio.h>
#include <stdlib.h>

struct csr {
    int rows, entries;
    int *start, *column;
    double *value;
};

/* y = A x */
static void multiply(int rows, int entries, const int start[rows + 1], const int column[entries],
                     const double value[entries], const double x[rows], double y[rows])
{
    #pragma omp parallel for
    for (int i = 0; i < rows; i++) {
        double sum = 0.0;
        for (int e = start[i]; e < start[i + 1]; e++)
            sum += value[e] * x[column[e]];
        y[i] = sum;
    }
}

static struct csr laplacian(int k)
{
    struct csr a = { k * k, 0, NULL, NULL, NULL };
    a.start = malloc((a.rows + 1) * sizeof(int));
    a.column = malloc(5 * a.rows * sizeof(int));
    a.value = malloc(5 * a.rows * sizeof(double));
    for (int i = 0; i < a.rows; i++) {
        int y = i / k, x = i % k, e = a.entries;
        a.start[i] = e;
        if (y > 0) a.column[e] = i - k, a.value[e++] = -1;
        if (x > 0) a.column[e] = i - 1, a.value[e++] = -1;
        a.column[e] = i, a.value[e++] = 4;
        if (x < k - 1) a.column[e] = i + 1, a.value[e++] = -1;
        if (y < k - 1) a.column[e] = i + k, a.value[e++] = -1;
        a.entries = e;
    }
    a.start[a.rows] = a.entries;
    return a;
}

int main(int argc, char **argv)
{
    struct csr a = laplacian(argc > 1 ? atoi(argv[1]) : 100);
    double *x = malloc(a.rows * sizeof *x), *y = malloc(a.rows * sizeof *y);
    for (int i = 0; i < a.rows; i++)
        x[i] = i % 10;
    for (int t = 0; t < 5; t++) {
        multiply(a.rows, a.entries, a.start, a.column, a.value, x, y);
        double *swap = x;
        x = y;
        y = swap;
    }
    double sum = 0;
    for (int i = 0; i < a.rows; i++)
        sum += x[i] * (i % 7);
    printf("%d rows, %d entries, sum %.10e\n", a.rows, a.entries, sum);
    free(a.start), free(a.column), free(a.value), free(x), free(y);
    return 0;
}
