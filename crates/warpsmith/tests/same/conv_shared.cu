// same-as: references.c:conv3x3
#define B 16
__global__ void conv_shared(int h, int w, const float *in, const float *k, float *out) {
    __shared__ float tile[B + 2][B + 2];
    int x0 = blockIdx.x * B - 1, y0 = blockIdx.y * B - 1;
    for (int t = threadIdx.y * B + threadIdx.x; t < (B + 2) * (B + 2); t += B * B) {
        int y = min(max(y0 + t / (B + 2), 0), h - 1), x = min(max(x0 + t % (B + 2), 0), w - 1);
        tile[t / (B + 2)][t % (B + 2)] = in[y * w + x];
    }
    __syncthreads();
    int x = blockIdx.x * B + threadIdx.x, y = blockIdx.y * B + threadIdx.y;
    if (x >= w || y >= h) return;
    float sum = 0;
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++) sum += k[j * 3 + i] * tile[threadIdx.y + j][threadIdx.x + i];
    out[y * w + x] = sum;
}
void conv3x3(int h, int w, const float *in, const float *k, float *out) {
    conv_shared<<<dim3((w + B - 1) / B, (h + B - 1) / B), dim3(B, B)>>>(h, w, in, k, out);
}
// right: #define B 16 => #define B 8
// right: for (int j = 0; j < 3; j++)\n        for (int i = 0; i < 3; i++) sum => for (int i = 0; i < 3; i++)\n        for (int j = 0; j < 3; j++) sum
// fault: 0), h - 1), x = => 0), h), x =
// fault: 0), w - 1); => 0), w - 2);
// fault: y0 + t / (B + 2), 0) => y0 + t / (B + 2), 1)
// fault: t < (B + 2) * (B + 2) => t < (B + 2) * (B + 1)
// fault: __syncthreads(); =>
// fault: k[j * 3 + i] => k[i * 3 + j]
// fault: i < 3; i++) sum => i < 2; i++) sum
// fault: out[y * w + x] = sum => out[y * h + x] = sum
// fault: threadIdx.x + i]; => threadIdx.x + 2 - i];
// fault: x >= w || y >= h => x >= w && y >= h
// fault: dim3((w + B - 1) / B, => dim3(w / B,
// fault: max(x0 + t % (B + 2), 0) => abs(x0 + t % (B + 2))
