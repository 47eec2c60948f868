extern "C" void mv2_cpu(const float *m, const float *v, float *r)
{
    r[0] = m[0] * v[0] + m[1] * v[1];
    r[1] = m[2] * v[0] + m[3] * v[1];
}
