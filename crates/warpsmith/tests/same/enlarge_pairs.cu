// same-as: references.cu:enlarge
// Two points of a row as one store, the next row's values kept from the one before.
__global__ void enlarge_pairs(int w, int h, const float *in, float *out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= w) return;
    int x1 = min(x + 1, w - 1), rows = 4, first = blockIdx.y * rows, last = min(first + rows, h);
    if (first >= h) return;
    float a = in[first * w + x], b = in[first * w + x1];
    for (int y = first; y < last; y++) {
        int y1 = min(y + 1, h - 1);
        float c = in[y1 * w + x], d = in[y1 * w + x1];
        float2 *top = (float2 *)(out + 4 * y * w) + x;
        top[0] = make_float2(a, (a + b) * 0.5f);
        top[w] = make_float2((a + c) * 0.5f, ((a + b) + (c + d)) * 0.25f);
        a = c;
        b = d;
    }
}
void enlarge(int w, int h, const float *in, float *out) { enlarge_pairs<<<dim3((w + 63) / 64, (h + 3) / 4), 64>>>(w, h, in, out); }
// right: (w + 63) / 64, (h + 3) / 4), 64 => (w + 31) / 32, (h + 3) / 4), 32
// right: a = c;\n        b = d; => b = d;\n        a = c;
// fault: min(x + 1, w - 1) => x + 1
// fault: min(y + 1, h - 1) => min(y + 1, last - 1)
// fault: b = d; => b = c;
// fault: (a + c) * 0.5f => (a + b) * 0.5f
// fault: min(first + rows, h) => first + rows
// fault: (h + 3) / 4) => h / 4)
// fault: out + 4 * y * w => out + 4 * y * h
// fault: * 0.25f => * 0.250001f
// fault: top[w] => top[2 * w]
// fault: rows = 4 => rows = 3
