// A scalar times the 3x3 identity: C = s I.
void smimul33_cpu(const float *s, float *C)
{
    for (int i = 0; i < 9; i++) C[i] = i % 4 == 0 ? s[0] : 0.0f;
}
