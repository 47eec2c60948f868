// warpsmith: size n=2048
// expect: interchange k, accumulate C, stage A at k, stage B at k
// Rows of B are added up, each with its number in a variable.
void gemm_hoisted(int n, const float A[n][n], const float B[n][n], float C[n][n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            float a = A[i][k];
            for (int j = 0; j < n; j++)
                C[i][j] += a * B[k][j];
        }
}
