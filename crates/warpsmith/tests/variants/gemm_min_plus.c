// warpsmith: size n=1024 m=1024 k=1024
// expect: register_tile i, register_tile j
#include <math.h>
void gemm_min_plus(int n, int m, int k, const float A[n][k], const float B[k][m], float C[n][m])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            float best = INFINITY;
            for (int l = 0; l < k; l++)
                best = fminf(best, A[i][l] + B[l][j]);
            C[i][j] = best;
        }
}
