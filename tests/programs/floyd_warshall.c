/* Shortest paths between all pairs. usage: floyd_warshall [n] */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define FAR 1000000

void shortest_paths(int n, int d[n][n])
{
    for (int k = 0; k < n; k++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++) {
            if (i == k)
                continue;
            for (int j = 0; j < n; j++)
                if (d[i][k] + d[k][j] < d[i][j])
                    d[i][j] = d[i][k] + d[k][j];
        }
    }
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 200;
    int (*d)[n] = malloc(sizeof(int[n][n]));
    unsigned r = 12345;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            r = r * 1103515245u + 12345u;
            d[i][j] = i == j ? 0 : (r >> 16) % 8 == 0 ? 1 + (int)(r >> 20) % 100 : FAR;
        }
    time_t now = time(NULL);
    shortest_paths(n, d);
    fprintf(stderr, "%ld s\n", (long)(time(NULL) - now));
    long long sum = 0;
    int worst = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            sum += d[i][j];
            if (d[i][j] > worst) worst = d[i][j];
        }
    printf("sum %lld longest %d\n", sum, worst);
    free(d);
    return 0;
}
