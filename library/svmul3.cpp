// A vector times a scalar: w = s v.
void svmul3_cpu(const float *v, const float *s, float *w)
{
    for (int i = 0; i < 3; i++) w[i] = s[0] * v[i];
}
