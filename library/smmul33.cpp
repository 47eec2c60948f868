// A 3x3 matrix times a scalar: C = s A.
void smmul33_cpu(const float *A, const float *s, float *C)
{
    for (int i = 0; i < 9; i++) C[i] = s[0] * A[i];
}
