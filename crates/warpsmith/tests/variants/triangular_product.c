// warpsmith: size n=1024
// expect: rectangle l, stage L, stage B, register_tile i
void triangular_product(int n, const float L[n][n], const float B[n][n], float C[n][n])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0.0f;
            for (int l = 0; l <= i; l++)
                sum += L[i][l] * B[l][j];
            C[i][j] = sum;
        }
}
