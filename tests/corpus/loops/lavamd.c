#include <math.h>

#define fp double
#define NUMBER_PAR_PER_BOX 100
#define DOT(A, B) ((A.x) * (B.x) + (A.y) * (B.y) + (A.z) * (B.z))

typedef struct { fp x, y, z; } THREE_VECTOR;
typedef struct { fp v, x, y, z; } FOUR_VECTOR;
typedef struct nei_str {
    int x, y, z;
    int number;
    long offset;
} nei_str;
typedef struct box_str {
    int x, y, z;
    int number;
    long offset;
    int nn;
    nei_str nei[26];
} box_str;

void kernel_cpu(fp alpha, int number_boxes, const box_str *box, const FOUR_VECTOR *rv, const fp *qv, FOUR_VECTOR *fv)
{
    fp a2 = 2.0 * alpha * alpha;
    int l, k, i, j;

#pragma omp parallel for private(i, j, k)
    for (l = 0; l < number_boxes; l = l + 1) {
        long first_i = (long)l * NUMBER_PAR_PER_BOX;
        for (k = 0; k < (1 + box[l].nn % 27); k++) {
            int pointer = (k == 0) ? l : box[l].nei[k - 1].number;
            long first_j = (long)pointer * NUMBER_PAR_PER_BOX;
            for (i = 0; i < NUMBER_PAR_PER_BOX; i = i + 1) {
                for (j = 0; j < NUMBER_PAR_PER_BOX; j = j + 1) {
                    THREE_VECTOR d;
                    fp r2 = rv[first_i + i].v + rv[first_j + j].v - DOT(rv[first_i + i], rv[first_j + j]);
                    fp u2 = a2 * r2;
                    fp vij = exp(-u2);
                    fp fs = 2. * vij;
                    d.x = rv[first_i + i].x - rv[first_j + j].x;
                    d.y = rv[first_i + i].y - rv[first_j + j].y;
                    d.z = rv[first_i + i].z - rv[first_j + j].z;
                    fv[first_i + i].v += qv[first_j + j] * vij;
                    fv[first_i + i].x += qv[first_j + j] * fs * d.x;
                    fv[first_i + i].y += qv[first_j + j] * fs * d.y;
                    fv[first_i + i].z += qv[first_j + j] * fs * d.z;
                }
            }
        }
    }
}
