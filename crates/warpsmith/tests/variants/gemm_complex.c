// warpsmith: size n=512 m=512 k=512
// expect: register_tile i, stage Ar, stage Bi
void gemm_complex(int n, int m, int k, const float Ar[n][k], const float Ai[n][k],
                  const float Br[k][m], const float Bi[k][m], float Cr[n][m], float Ci[n][m])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            float re = 0.0f, im = 0.0f;
            for (int l = 0; l < k; l++) {
                re += Ar[i][l] * Br[l][j] - Ai[i][l] * Bi[l][j];
                im += Ar[i][l] * Bi[l][j] + Ai[i][l] * Br[l][j];
            }
            Cr[i][j] = re;
            Ci[i][j] = im;
        }
}
