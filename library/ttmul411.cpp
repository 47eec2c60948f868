// A fourth-order tensor times a vector: R[i][j][k] = sum over l of T[i][j][k][l] v[l].
void ttmul411_cpu(const float *T, const float *v, float *R)
{
    for (int i = 0; i < 27; i++) {
        float sum = 0.0f;
        for (int l = 0; l < 3; l++) sum += T[i * 3 + l] * v[l];
        R[i] = sum;
    }
}
