// Product of two 5x5 matrices: C = A B.
void mmul55_cpu(const float *A, const float *B, float *C)
{
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++) {
            float sum = 0.0f;
            for (int k = 0; k < 5; k++) sum += A[i * 5 + k] * B[k * 5 + j];
            C[i * 5 + j] = sum;
        }
}
