// warpsmith: size n=64 m=64 k=100000
// expect: split_k l, bind l_part, accumulate sum_parts
// Few outputs, long sums: in parts, which keep more blocks busy.
void gemm_thin(int n, int m, int k, const float A[n][k], const float B[k][m], float C[n][m])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            float sum = 0.0f;
            for (int l = 0; l < k; l++)
                sum += A[i][l] * B[l][j];
            C[i][j] = sum;
        }
}
