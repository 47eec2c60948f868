// Sum of two 3x3 matrices: C = A + B.
void madd33_cpu(const float *A, const float *B, float *C)
{
    for (int i = 0; i < 9; i++) C[i] = A[i] + B[i];
}
