void mmul44_cpu(const float *a, const float *b, float *c) {
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            float sum = 0.0f;
            for (int k = 0; k < 4; k++) sum += a[i * 4 + k] * b[k * 4 + j];
            c[i * 4 + j] = sum;
        }
}
