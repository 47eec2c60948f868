// Seven points of a volume that one index goes through.
#define NTH 256
__global__ void step(const float *f, float *g, int nx, int ny, int nz) {
    __shared__ float s[NTH];
    int id = blockIdx.x * NTH + threadIdx.x;
    int total = nx * ny * nz;
    if (id < total) s[threadIdx.x] = f[id];
    __syncthreads();
    if (id >= total) return;
    int i = id % nx, j = (id / nx) % ny, k = id / (nx * ny);
    if (i == 0 || i == nx - 1 || j == 0 || j == ny - 1 || k == 0 || k == nz - 1) { g[id] = f[id]; return; }
    g[id] = __opt__(f[id - 1]) + __opt__(f[id + 1]) + __opt__(f[id - nx]) + __opt__(f[id + nx]) + f[id - nx * ny] + f[id + nx * ny] - 6.f * __opt__(f[id]);
}
