/* European options. usage: black_scholes [options] */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define RATE 0.02
#define SIGMA 0.30

static inline double normal(double x)
{
    return 0.5 * erfc(-x * 0.70710678118654752440);
}

void prices(int n, const double s[n], const double k[n], const double t[n], double call[n],
            double put[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double root = SIGMA * sqrt(t[i]);
        double d1 = (log(s[i] / k[i]) + (RATE + 0.5 * SIGMA * SIGMA) * t[i]) / root;
        double d2 = d1 - root;
        double discounted = k[i] * exp(-RATE * t[i]);
        call[i] = s[i] * normal(d1) - discounted * normal(d2);
        put[i] = discounted * normal(-d2) - s[i] * normal(-d1);
    }
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 20000;
    double *s = malloc(n * sizeof(double)), *k = malloc(n * sizeof(double));
    double *t = malloc(n * sizeof(double));
    double *call = malloc(n * sizeof(double)), *put = malloc(n * sizeof(double));
    srand(1);
    for (int i = 0; i < n; i++) {
        s[i] = 5 + i % 26;
        k[i] = 1 + i % 100;
        t[i] = 0.25 + i % 40 * 0.25;
    }
    double start = omp_get_wtime();
    prices(n, s, k, t, call, put);
    fprintf(stderr, "%g s on %d threads\n", omp_get_wtime() - start, omp_get_max_threads());
    double calls = 0, puts = 0;
    for (int i = 0; i < n; i++)
        calls += call[i], puts += put[i];
    printf("calls %.8e puts %.8e\n", calls, puts);
    free(s), free(k), free(t), free(call), free(put);
    return 0;
}
