/* Lloyd's algorithm: the assignment of points to centres is the expensive part. usage: kmeans [n] [k] */
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIM 4

void assign(int n, int k, const float points[n][DIM], const float centres[k][DIM], int label[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float best = FLT_MAX;
        int at = 0;
        for (int c = 0; c < k; c++) {
            float d = 0.0f;
            for (int f = 0; f < DIM; f++) {
                float x = points[i][f] - centres[c][f];
                d += x * x;
            }
            if (d < best) {
                best = d;
                at = c;
            }
        }
        label[i] = at;
    }
}

static void move_centres(int n, int k, const float points[n][DIM], const int label[n],
                         float centres[k][DIM])
{
    int *count = calloc(k, sizeof(int));
    double (*sum)[DIM] = calloc(k, sizeof *sum);
    for (int i = 0; i < n; i++) {
        count[label[i]]++;
        for (int f = 0; f < DIM; f++)
            sum[label[i]][f] += points[i][f];
    }
    for (int c = 0; c < k; c++)
        for (int f = 0; f < DIM && count[c]; f++)
            centres[c][f] = (float)(sum[c][f] / count[c]);
    free(count);
    free(sum);
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 5000, k = argc > 2 ? atoi(argv[2]) : 8;
    float (*points)[DIM] = malloc(n * sizeof *points);
    float (*centres)[DIM] = malloc(k * sizeof *centres);
    int *label = malloc(n * sizeof *label);
    for (int i = 0; i < n; i++)
        for (int f = 0; f < DIM; f++)
            points[i][f] = (float)((i * 31 + f * 17) % 101) + 50.0f * (i % k);
    memcpy(centres, points, k * sizeof *centres);
    for (int round = 0; round < 6; round++) {
        assign(n, k, (const float (*)[DIM])points, (const float (*)[DIM])centres, label);
        move_centres(n, k, (const float (*)[DIM])points, label, centres);
    }
    for (int c = 0; c < k; c++) {
        int members = 0;
        for (int i = 0; i < n; i++)
            members += label[i] == c;
        printf("%d: %d members at %.3f\n", c, members, centres[c][0]);
    }
    free(points), free(centres), free(label);
    return 0;
}
