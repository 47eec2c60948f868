void axpby7_cpu(const float *a, const float *x, const float *b, const float *y, float *r)
{
    for (int i = 0; i < 7; i++) r[i] = a[0] * x[i] + b[0] * y[i];
}
