// same-as: references.c:life
// Three rows of a block with their neighbours in shared memory.
#define BX 32
#define BY 4
__global__ void life_words(int h, int w, const unsigned char *in, unsigned char *out) {
    __shared__ unsigned char s[BY + 2][BX + 2];
    int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    for (int j = threadIdx.y; j < BY + 2; j += BY)
        for (int i = threadIdx.x; i < BX + 2; i += BX) {
            int yy = blockIdx.y * BY + j - 1, xx = blockIdx.x * BX + i - 1;
            bool inside = yy >= 0 && yy < h && xx >= 0 && xx < w;
            s[j][i] = inside ? in[yy * w + xx] & 1 : 0;
        }
    __syncthreads();
    if (x >= w || y >= h) return;
    int around = -s[threadIdx.y + 1][threadIdx.x + 1];
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++) around += s[threadIdx.y + j][threadIdx.x + i];
    out[y * w + x] = around == 3 || (around == 2 && s[threadIdx.y + 1][threadIdx.x + 1]);
}
void life(int h, int w, const unsigned char *in, unsigned char *out) {
    life_words<<<dim3((w + BX - 1) / BX, (h + BY - 1) / BY), dim3(BX, BY)>>>(h, w, in, out);
}
// right: #define BY 4 => #define BY 8
// right: around == 3 || (around == 2 && s[threadIdx.y + 1][threadIdx.x + 1]) => (around | s[threadIdx.y + 1][threadIdx.x + 1]) == 3
// fault: around = -s[threadIdx.y + 1][threadIdx.x + 1] => around = 0
// fault: in[yy * w + xx] & 1 => in[yy * w + xx]
// fault: yy < h && xx >= 0 => xx >= 0
// fault: xx >= 0 && xx < w; => xx >= -1 && xx < w;
// fault: xx < w; => xx <= w;
// fault: i < BX + 2; i += BX => i < BX + 1; i += BX
// fault: j < BY + 2; j += BY => j < BY; j += BY
// fault: around == 2 && s[threadIdx.y + 1][threadIdx.x + 1] => around == 2
// fault: around == 3 || => around >= 3 ||
// fault: __syncthreads(); =>
// fault: j < 3; j++ => j < 2; j++
