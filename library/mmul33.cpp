// Product of two 3x3 matrices: C = A B. The reference: one element, the inputs in order, then the output. All that kernels give is
// compared with it.
void mmul33_cpu(const float *A, const float *B, float *C)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            float sum = 0.0f;
            for (int k = 0; k < 3; k++) sum += A[i * 3 + k] * B[k * 3 + j];
            C[i * 3 + j] = sum;
        }
}
