// Sum of two 5x5 matrices: C = A + B.
void madd55_cpu(const float *A, const float *B, float *C)
{
    for (int i = 0; i < 25; i++) C[i] = A[i] + B[i];
}
