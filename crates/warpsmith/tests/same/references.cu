// References that are kernels: one thread an element.

__global__ void jacobi(int nx, int ny, const float *in, float *out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
    out[y * nx + x] = 0.25f * (in[y * nx + x - 1] + in[y * nx + x + 1] + in[(y - 1) * nx + x] + in[(y + 1) * nx + x]);
}

__global__ void triad(int n, const float *b, const float *c, float s, float *a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] = b[i] + s * c[i];
}

__global__ void rotate(int n, const float2 *z, float re, float im, float2 *w) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) w[i] = make_float2(z[i].x * re - z[i].y * im, z[i].x * im + z[i].y * re);
}

__global__ void norms(int rows, int cols, const float *x, float *y) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0;
    for (int c = 0; c < cols; c++) sum += x[r * cols + c] * x[r * cols + c];
    float scale = rsqrtf(sum / cols + 1e-5f);
    for (int c = 0; c < cols; c++) y[r * cols + c] = x[r * cols + c] * scale;
}

__global__ void heat(int nx, int ny, int nz, const float *in, float *out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny) return;
    for (int z = 0; z < nz; z++) {
        int at = (z * ny + y) * nx + x;
        float below = z > 0 ? in[at - nx * ny] : in[at];
        float above = z < nz - 1 ? in[at + nx * ny] : in[at];
        out[at] = in[at] + 0.1f * (below + above - 2.0f * in[at]);
    }
}
