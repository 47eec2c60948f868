/* Heat on a plate: sweeps there and back. usage: jacobi [n] [steps] */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HOT 100.0f

static void die(const char *what)
{
    fprintf(stderr, "jacobi: %s\n", what);
    exit(EXIT_FAILURE);
}

static void jacobi(int n, int steps, float u[n][n], float v[n][n])
{
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                v[i][j] = 0.25f * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
        #pragma omp parallel for
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                u[i][j] = 0.25f * (v[i - 1][j] + v[i + 1][j] + v[i][j - 1] + v[i][j + 1]);
    }
}

int main(int argc, char *argv[])
{
    int n = 256, steps = 50;
    if (argc > 1)
        n = atoi(argv[1]);
    if (argc > 2)
        steps = atoi(argv[2]);
    if (n < 3)
        die("the plate is too small");
    size_t bytes = (size_t)n * n * sizeof(float);
    float (*u)[n] = calloc(n, n * sizeof(float));
    float (*v)[n] = malloc(bytes);
    if (u == NULL || v == NULL)
        die("no memory");
    for (int j = 0; j < n; j++)
        u[0][j] = HOT;
    memcpy(v, u, bytes);
    clock_t start = clock();
    jacobi(n, steps, u, v);
    fprintf(stderr, "%.3f s\n", (double)(clock() - start) / CLOCKS_PER_SEC);
    double heat = 0.0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            assert(!isnan(u[i][j]));
            heat += u[i][j];
        }
    printf("heat %.5e centre %.4f corner %.4f\n", heat, u[n / 2][n / 2], u[1][1]);
    free(v);
    free(u);
    return 0;
}
