void mul20_cpu(const float *a, const float *b, float *c)
{ for (int i = 0; i < 20; i++) for (int j = 0; j < 20; j++) { float s = 0; for (int k = 0; k < 20; k++) s += a[i * 20 + k] * b[k * 20 + j]; c[i * 20 + j] = s; } }
