// same-as: references.c:maxpool
// Two columns of the result a thread.
__global__ void maxpool_pairs(int h, int w, const float *in, float *out) {
    int oh = (h + 1) / 2, ow = (w + 1) / 2;
    int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x), y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y >= oh) return;
    for (int o = x; o < min(x + 2, ow); o++) {
        const float *p = in + 2 * y * w + 2 * o;
        float most = -INFINITY;
        bool right = 2 * o + 1 < w, below = 2 * y + 1 < h;
        most = fmaxf(most, p[0]);
        if (right) most = fmaxf(most, p[1]);
        if (below) most = fmaxf(most, p[w]);
        if (right && below) most = fmaxf(most, p[w + 1]);
        out[y * ow + o] = most;
    }
}
void maxpool(int h, int w, const float *in, float *out) {
    dim3 block(16, 8);
    dim3 grid(((w + 1) / 2 + 31) / 32, ((h + 1) / 2 + 7) / 8);
    maxpool_pairs<<<grid, block>>>(h, w, in, out);
}
// right: dim3 block(16, 8); => dim3 block(16, 16);
// right: float most = -INFINITY; => float most = p[0];
// fault: most = -INFINITY => most = 0
// fault: most = -INFINITY => most = -1
// fault: most = -INFINITY => most = -100
// fault: 2 * o + 1 < w, => 2 * o + 1 <= w,
// fault: 2 * y + 1 < h; => true;
// fault: (h + 1) / 2, ow => h / 2, ow
// fault: ow = (w + 1) / 2; => ow = w / 2;
// fault: min(x + 2, ow) => x + 2
// fault: p[w + 1] => p[h + 1]
// fault: out[y * ow + o] => out[y * oh + o]
// fault: ((h + 1) / 2 + 7) / 8 => (h / 2 + 7) / 8
