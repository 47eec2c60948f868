/* Mean and variance of samples, in two passes. usage: stats [n] */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void stats(int n, const double x[n], double *mean, double *variance)
{
    double sum = 0.0;
    #pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += x[i];
    double m = sum / n;
    double squares = 0.0;
    #pragma omp parallel for reduction(+ : squares)
    for (int i = 0; i < n; i++)
        squares += (x[i] - m) * (x[i] - m);
    *mean = m;
    *variance = squares / n;
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? strtol(argv[1], NULL, 10) : 100000;
    if (n < 1 || n > INT_MAX) {
        fprintf(stderr, "usage: %s [n]\n", argv[0]);
        return 2;
    }
    double *x = malloc(n * sizeof *x);
    unsigned state = 1;
    for (long i = 0; i < n; i++) {
        state ^= state << 13, state ^= state >> 17, state ^= state << 5;
        x[i] = state / (double)UINT_MAX;
    }
    double mean = -DBL_MAX, variance = -DBL_MAX;
    stats((int)n, x, &mean, &variance);
    printf("n %ld mean %.9f sigma %.9f\n", n, mean, sqrt(variance));
    free(x);
    return 0;
}
