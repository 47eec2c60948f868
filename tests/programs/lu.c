/* LU factorisation without pivoting, checked by multiplying back. usage: lu [n] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void lu(int n, double a[n][n])
{
    for (int k = 0; k < n; k++) {
        #pragma omp parallel for
        for (int i = k + 1; i < n; i++)
            a[i][k] /= a[k][k];
        #pragma omp parallel for collapse(2)
        for (int i = k + 1; i < n; i++)
            for (int j = k + 1; j < n; j++)
                a[i][j] -= a[i][k] * a[k][j];
    }
}

static double entry(int n, int i, int j)
{
    return i == j ? 2.0 * n : 1.0 / (1 + abs(i - j));
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 150;
    double (*a)[n] = malloc(sizeof(double[n][n]));
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i][j] = entry(n, i, j);
    lu(n, a);
    double worst = 0.0, log_det = 0.0;
    for (int i = 0; i < n; i++) {
        log_det += log(a[i][i]);
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int k = 0; k <= (i < j ? i : j); k++)
                sum += (k == i ? 1.0 : a[i][k]) * a[k][j];
            worst = fmax(worst, fabs(sum - entry(n, i, j)));
        }
    }
    printf("log det %.8f, %s\n", log_det, worst < 1e-10 * n ? "right" : "WRONG");
    free(a);
    return 0;
}
