// A sweep that leaves out points that a mask names: data decide which elements of `f` are read.
#define TX 16
#define TY 16

__global__ void masked(const float *u, float *out, const float *f, const int *mask, int n, int m, float h2) {
    __shared__ float us[TY][TX];
    int col = blockIdx.x * TX + threadIdx.x;
    int row = blockIdx.y * TY + threadIdx.y;
    int id = row * m + col;
    bool in = row < n && col < m;
    if (in) us[threadIdx.y][threadIdx.x] = u[id];
    __syncthreads();
    if (!in) return;
    if (row == 0 || col == 0 || row == n - 1 || col == m - 1 || mask[id]) {
        out[id] = __opt__(u[id]);
        return;
    }
    out[id] = 0.25f * (__opt__(u[id - 1]) + __opt__(u[id + 1]) + __opt__(u[id - m]) + __opt__(u[id + m]) - h2 * f[id]);
}
