#define W 16
#define H 8
__global__ void wide(const float *in, float *out, int nx, int ny) {
    __shared__ float t[H + 4][W + 4];
    int x = blockIdx.x * W + threadIdx.x, y = blockIdx.y * H + threadIdx.y;
    int c = y * nx + x;
    if (x < nx && y < ny) {
        t[threadIdx.y + 2][threadIdx.x + 2] = in[c];
    }
    if (x >= 2 && x < nx - 2 && y >= 2 && y < ny - 2) {
        __insert();
    }
    __syncthreads();
    if (x >= 2 && x < nx - 2 && y >= 2 && y < ny - 2)
        out[c] = __opt__(t[threadIdx.y][threadIdx.x], in[c - 2 * nx - 2]) + __opt__(t[threadIdx.y + 2][threadIdx.x + 4], in[c + 2])
               + __opt__(t[threadIdx.y + 4][threadIdx.x + 2], in[c + 2 * nx]) + __opt__(t[threadIdx.y + 4][threadIdx.x + 4], in[c + 2 * nx + 2]);
}
