// A third-order tensor times a matrix: R[i][j][k] = sum over l of T[i][j][l] M[k][l].
void ttmul3212_cpu(const float *T, const float *M, float *R)
{
    for (int i = 0; i < 9; i++)
        for (int k = 0; k < 3; k++) {
            float sum = 0.0f;
            for (int l = 0; l < 3; l++) sum += T[i * 3 + l] * M[k * 3 + l];
            R[i * 3 + k] = sum;
        }
}
