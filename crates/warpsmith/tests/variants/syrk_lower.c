// warpsmith: size n=512 k=512
// expect: bind i
void syrk_lower(int n, int k, const float A[n][k], float C[n][n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            float sum = 0.0f;
            for (int l = 0; l < k; l++)
                sum += A[i][l] * A[j][l];
            C[i][j] = sum;
        }
}
