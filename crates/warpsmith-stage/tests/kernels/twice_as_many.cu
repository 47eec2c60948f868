#define B 16
__global__ void upsample(const unsigned char *src, unsigned char *dst, int w, int h) {
    __shared__ unsigned char t[B / 2][B / 2];
    int x = blockIdx.x * B + threadIdx.x, y = blockIdx.y * B + threadIdx.y;
    if (threadIdx.x < B / 2 && threadIdx.y < B / 2) {
        int u = blockIdx.x * (B / 2) + threadIdx.x, v = blockIdx.y * (B / 2) + threadIdx.y;
        if (u < (w + 1) / 2 && v < (h + 1) / 2) t[threadIdx.y][threadIdx.x] = src[v * ((w + 1) / 2) + u];
    }
    __syncthreads();
    if (x < w && y < h) dst[y * w + x] = __opt__(src[y / 2 * ((w + 1) / 2) + x / 2]);
}
