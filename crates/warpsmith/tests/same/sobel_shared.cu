// same-as: references.cu:sobel
#define W 16
#define H 8
__global__ void sobel_shared(int w, int h, const unsigned char *in, unsigned char *out) {
    __shared__ short s[H + 2][W + 2];
    int bx = blockIdx.x * W, by = blockIdx.y * H;
    for (int t = threadIdx.y * W + threadIdx.x; t < (H + 2) * (W + 2); t += W * H) {
        int x = bx + t % (W + 2) - 1, y = by + t / (W + 2) - 1;
        s[t / (W + 2)][t % (W + 2)] = x >= 0 && x < w && y >= 0 && y < h ? in[y * w + x] : 0;
    }
    __syncthreads();
    int x = bx + threadIdx.x, y = by + threadIdx.y, i = threadIdx.x + 1, j = threadIdx.y + 1;
    if (x >= w || y >= h) return;
    int g = 0;
    if (x > 0 && y > 0 && x < w - 1 && y < h - 1) {
        int gx = s[j - 1][i + 1] + 2 * s[j][i + 1] + s[j + 1][i + 1] - s[j - 1][i - 1] - 2 * s[j][i - 1] - s[j + 1][i - 1];
        int gy = s[j + 1][i - 1] + 2 * s[j + 1][i] + s[j + 1][i + 1] - s[j - 1][i - 1] - 2 * s[j - 1][i] - s[j - 1][i + 1];
        g = min(abs(gx) + abs(gy), 255);
    }
    out[y * w + x] = g;
}
void sobel(int w, int h, const unsigned char *in, unsigned char *out) {
    sobel_shared<<<dim3((w + W - 1) / W, (h + H - 1) / H), dim3(W, H)>>>(w, h, in, out);
}
// right: #define H 8 => #define H 4
// right: __shared__ short s => __shared__ int s
// fault: __shared__ short s => __shared__ signed char s
// fault: min(abs(gx) + abs(gy), 255) => abs(gx) + abs(gy)
// fault: min(abs(gx) + abs(gy), 255) => min(abs(gx + gy), 255)
// fault: min(abs(gx) + abs(gy), 255) => max(abs(gx), abs(gy)) > 255 ? 255 : min(abs(gx) + abs(gy), 510) & 255
// fault: x < w - 1 && y < h - 1) => x < w && y < h - 1)
// fault: 2 * s[j][i + 1] + => s[j][i + 1] +
// fault: t < (H + 2) * (W + 2) => t < (H + 2) * (W + 2) - 1
// fault: t / (W + 2) - 1; => t / (W + 1) - 1;
// fault: - 2 * s[j - 1][i] - => - 2 * s[j][i - 1] -
// fault: y < h ? in => y < h - 1 ? in
// fault: __syncthreads(); =>
