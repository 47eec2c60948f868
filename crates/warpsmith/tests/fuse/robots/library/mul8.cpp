void mul8_cpu(const float *a, const float *b, float *c)
{ for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) { float s = 0; for (int k = 0; k < 8; k++) s += a[i * 8 + k] * b[k * 8 + j]; c[i * 8 + j] = s; } }
