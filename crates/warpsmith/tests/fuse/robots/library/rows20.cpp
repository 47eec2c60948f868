void rows20_cpu(const float *a, float *r) { for (int i = 0; i < 20; i++) { float s = 0; for (int k = 0; k < 20; k++) s += a[i * 20 + k]; r[i] = s; } }
