void qrot_cpu(const float *q, const float *v, float *r)
{
    const float w = q[0], x = q[1], y = q[2], z = q[3];
    const float t[3] = {2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])};
    r[0] = v[0] + w * t[0] + (y * t[2] - z * t[1]);
    r[1] = v[1] + w * t[1] + (z * t[0] - x * t[2]);
    r[2] = v[2] + w * t[2] + (x * t[1] - y * t[0]);
}
