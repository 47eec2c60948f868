// Himeno's pressure solver, 19 points: one thread a column, no shared memory. What `--auto` starts from.
#define BX 32
#define BY 4

__global__ void jacobi(const float *p, const float *a0, const float *a1, const float *a2, const float *a3, const float *b0, const float *b1, const float *b2, const float *c0, const float *c1, const float *c2, const float *bnd, const float *wrk1,
                       float *wrk2, int nx, int ny, int nz) {
    int i = blockIdx.x * BX + threadIdx.x + 1;
    int j = blockIdx.y * BY + threadIdx.y + 1;
    int plane = nx * ny;
    if (i >= nx - 1 || j >= ny - 1) return;
    for (int k = 1; k < nz - 1; k++) {
        int c = i + nx * j + plane * k;
        float s0 = a0[c] * p[c + 1] + a1[c] * p[c + nx] + a2[c] * p[c + plane]
                 + b0[c] * (p[c + 1 + nx] - p[c + 1 - nx] - p[c - 1 + nx] + p[c - 1 - nx])
                 + b1[c] * (p[c + nx + plane] - p[c - nx + plane] - p[c + nx - plane] + p[c - nx - plane])
                 + b2[c] * (p[c + 1 + plane] - p[c - 1 + plane] - p[c + 1 - plane] + p[c - 1 - plane])
                 + c0[c] * p[c - 1] + c1[c] * p[c - nx] + c2[c] * p[c - plane] + wrk1[c];
        float ss = (s0 * a3[c] - p[c]) * bnd[c];
        wrk2[c] = p[c] + 0.8f * ss;
    }
}

// The launch, which `--auto` edits as well.
static void launch(const float *p, const float *a0, const float *a1, const float *a2, const float *a3, const float *b0, const float *b1, const float *b2, const float *c0, const float *c1, const float *c2, const float *bnd, const float *wrk1,
                   float *wrk2, int nx, int ny, int nz) {
    dim3 block(BX, BY), grid((nx - 2 + BX - 1) / BX, (ny - 2 + BY - 1) / BY);
    jacobi<<<grid, block>>>(p, a0, a1, a2, a3, b0, b1, b2, c0, c1, c2, bnd, wrk1, wrk2, nx, ny, nz);
}
#define LAUNCH launch
