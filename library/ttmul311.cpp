// A third-order tensor times a vector: R[i][j] = sum over k of T[i][j][k] v[k].
void ttmul311_cpu(const float *T, const float *v, float *R)
{
    for (int i = 0; i < 9; i++) {
        float sum = 0.0f;
        for (int k = 0; k < 3; k++) sum += T[i * 3 + k] * v[k];
        R[i] = sum;
    }
}
