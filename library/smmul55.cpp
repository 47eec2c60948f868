// A 5x5 matrix times a scalar: C = s A.
void smmul55_cpu(const float *A, const float *s, float *C)
{
    for (int i = 0; i < 25; i++) C[i] = s[0] * A[i];
}
