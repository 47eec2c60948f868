// The outer loop is not marked, but provably parallel.
// warpsmith: size n=512
// expect: bind i, j, register_tile i, stage A at k, stage B at k
void gemm_inner_mark(int n, const float A[n][n], const float B[n][n], float C[n][n])
{
    for (int i = 0; i < n; i++) {
        #pragma omp parallel for
        for (int j = 0; j < n; j++) {
            float s = 0;
            for (int k = 0; k < n; k++)
                s += A[i][k] * B[k][j];
            C[i][j] = s;
        }
    }
}
