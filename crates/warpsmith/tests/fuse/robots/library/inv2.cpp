#define DET(m) (m[0] * m[3] - m[1] * m[2])
void inv2_cpu(const float *m, float *r)
{
    float d = 1.0f / (DET(m) + 2.0f);
    r[0] = m[3] * d; r[1] = -m[1] * d; r[2] = -m[2] * d; r[3] = m[0] * d;
}
