// A 3x3 matrix times a vector: w = A v.
void mvmul33_cpu(const float *A, const float *v, float *w)
{
    for (int i = 0; i < 3; i++) {
        float sum = 0.0f;
        for (int k = 0; k < 3; k++) sum += A[i * 3 + k] * v[k];
        w[i] = sum;
    }
}
