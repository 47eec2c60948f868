// same-as: references.cu:adam
__global__ void adam_vectors(int n, const float *g, float *m, float *v, float *p, float rate, float b1, float b2) {
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    float gs[4], ms[4], vs[4], ps[4];
    bool whole = i + 3 < n;
    if (whole) {
        *(float4 *)gs = *(const float4 *)(g + i);
        *(float4 *)ms = *(float4 *)(m + i);
        *(float4 *)vs = *(float4 *)(v + i);
        *(float4 *)ps = *(float4 *)(p + i);
    } else {
        for (int k = 0; i + k < n; k++) gs[k] = g[i + k], ms[k] = m[i + k], vs[k] = v[i + k], ps[k] = p[i + k];
    }
    int count = whole ? 4 : n - i;
    for (int k = 0; k < count; k++) {
        ms[k] = b1 * ms[k] + (1.0f - b1) * gs[k];
        vs[k] = b2 * vs[k] + (1.0f - b2) * gs[k] * gs[k];
        ps[k] -= rate * ms[k] / (sqrtf(fabsf(vs[k])) + 1e-8f);
    }
    for (int k = 0; k < count; k++) m[i + k] = ms[k], v[i + k] = vs[k], p[i + k] = ps[k];
}
void adam(int n, const float *g, float *m, float *v, float *p, float rate, float b1, float b2) {
    adam_vectors<<<(n + 255) / 256, 64>>>(n, g, m, v, p, rate, b1, b2);
}
// right: (n + 255) / 256, 64 => (n + 511) / 512, 128
// right: bool whole = i + 3 < n; => bool whole = i + 4 < n;
// fault: i + 3 < n => i + 2 < n
// fault: whole ? 4 : n - i => whole ? 4 : n - i - 1
// fault: (1.0f - b1) * gs[k] => (1.0f - b2) * gs[k]
// fault: gs[k] * gs[k] => gs[k]
// fault: + 1e-8f => + 1e-4f
// fault: sqrtf(fabsf(vs[k])) => fabsf(vs[k])
// fault: p[i + k] = ps[k]; => p[i] = ps[k];
// fault: ps[k] -= rate => ps[k] += rate
// fault: rate * ms[k] => rate * gs[k]
// fault: v[i + k] = vs[k], => v[i + k] = ms[k],
// fault: (n + 255) / 256 => (n + 255) / 257
// fault: sqrtf(fabsf(vs[k])) => sqrtf(vs[k])
