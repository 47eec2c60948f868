// Every element becomes a square of nine; the tile holds each once.
#define BX 24
#define BY 12

__global__ void nearest(const float *in, float *out, int w, int h) {
    __shared__ float s[BY / 3][BX / 3];
    int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    if (threadIdx.x < BX / 3 && threadIdx.y < BY / 3) {
        int cx = blockIdx.x * (BX / 3) + threadIdx.x, cy = blockIdx.y * (BY / 3) + threadIdx.y;
        if (cx < w && cy < h) s[threadIdx.y][threadIdx.x] = in[cy * w + cx];
    }
    __syncthreads();
    if (x < 3 * w && y < 3 * h) out[y * 3 * w + x] = __opt__(in[(y / 3) * w + x / 3]);
}

void launch(const float *in, float *out, int w, int h) {
    nearest<<<dim3((3 * w + BX - 1) / BX, (3 * h + BY - 1) / BY), dim3(BX, BY)>>>(in, out, w, h);
}
