// The powers A, A², …, A^p, one after the other, each product in parallel.
// warpsmith: size n=512 p=4

void matrix_powers(int n, int p, const float A[n][n], float powers[p][n][n])
{
    for (int q = 0; q < p; q++) {
        #pragma omp parallel for collapse(2)
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                if (q == 0) {
                    powers[0][i][j] = A[i][j];
                } else {
                    float sum = 0.0f;
                    for (int k = 0; k < n; k++) {
                        sum += powers[q - 1][i][k] * A[k][j];
                    }
                    powers[q][i][j] = sum;
                }
            }
        }
    }
}
