void mtrans33_cpu(const float *a, float *b) {
    for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) b[i * 3 + j] = a[j * 3 + i];
}
