#define R 2
#define BX 32
#define BY 8
__constant__ float weights[(2 * R + 1) * (2 * R + 1)];
__global__ void conv(const float *in, float *out, int nx, int ny) {
    __shared__ float tile[BY][BX];
    int i = blockIdx.x * BX + threadIdx.x;
    int j = blockIdx.y * BY + threadIdx.y;
    if (i < nx && j < ny) tile[threadIdx.y][threadIdx.x] = in[j * nx + i];
    __syncthreads();
    if (i >= nx || j >= ny) return;
    float sum = 0;
    for (int dy = -R; dy <= R; dy++)
        for (int dx = -R; dx <= R; dx++) {
            int x = i + dx, y = j + dy;
            if (x >= 0 && x < nx && y >= 0 && y < ny)
                sum += weights[(dy + R) * (2 * R + 1) + dx + R] * __opt__(in[y * nx + x]);
        }
    out[j * nx + i] = sum;
}
