/* Dense matrix product, the classic. usage: matmul [n] */
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

static double seconds(void)
{
    struct timeval tv;
    gettimeofday(&tv, NULL);
    return tv.tv_sec + tv.tv_usec * 1e-6;
}

void matmul(int n, const double a[n][n], const double b[n][n], double c[n][n])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int k = 0; k < n; k++)
                sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
    }
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 300;
    double (*a)[n] = malloc(sizeof(double[n][n]));
    double (*b)[n] = malloc(sizeof(double[n][n]));
    double (*c)[n] = malloc(sizeof(double[n][n]));
    if (!a || !b || !c) {
        fprintf(stderr, "out of memory\n");
        return 1;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            a[i][j] = (i + 2 * j) % 17 - 8;
            b[i][j] = (3 * i - j) % 13;
        }
    double t = seconds();
    matmul(n, a, b, c);
    fprintf(stderr, "time: %.6f s\n", seconds() - t);
    double trace = 0.0, all = 0.0;
    for (int i = 0; i < n; i++) {
        trace += c[i][i];
        for (int j = 0; j < n; j++)
            all += c[i][j] * (1 + (i ^ j) % 3);
    }
    printf("n = %d trace = %.6e sum = %.6e\n", n, trace, all);
    free(a);
    free(b);
    free(c);
    return 0;
}
