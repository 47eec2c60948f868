// A filter whose border is wrapped around.
#define TILE 16
#define RAD 2
__constant__ float filt[(2 * RAD + 1) * (2 * RAD + 1)];
__global__ void convWrap(const float *in, float *out, int W, int H) {
    __shared__ float tile[TILE][TILE];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    if (x < W && y < H) tile[threadIdx.y][threadIdx.x] = in[y * W + x];
    __syncthreads();
    if (x >= W || y >= H) return;
    float acc = 0.0f;
    for (int dy = -RAD; dy <= RAD; ++dy)
        for (int dx = -RAD; dx <= RAD; ++dx) {
            int xx = (x + dx + W) % W;
            int yy = (y + dy + H) % H;
            acc += filt[(dy + RAD) * (2 * RAD + 1) + dx + RAD] * __opt__(in[yy * W + xx]);
        }
    out[y * W + x] = acc;
}
