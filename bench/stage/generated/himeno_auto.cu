// Himeno's pressure solver, 19 points: one thread a column, no shared memory. What `--auto` starts from.
#define BX 32
#define BY 4

__global__ void jacobi(const float *p, const float *a0, const float *a1, const float *a2, const float *a3, const float *b0, const float *b1, const float *b2, const float *c0, const float *c1, const float *c2, const float *bnd, const float *wrk1,
                       float *wrk2, int nx, int ny, int nz) {
    int i = blockIdx.x * BX + threadIdx.x + 1;
    int j = blockIdx.y * BY + threadIdx.y + 1;
    int plane = nx * ny;
    if (i >= nx - 1 || j >= ny - 1) return;
    // Blocks along z share this loop, whatever their number.
    const int k_run = (nz - 1 - 1 + (int)gridDim.z - 1) / (int)gridDim.z;
    const int k_begin = 1 + (int)blockIdx.z * k_run, k_end = min(nz - 1, k_begin + k_run);
    // Planes go through registers: each is read once.
    float p_below1, p_here1, p_below2, p_here2, p_below3, p_here3, p_below4, p_here4, p_below5, p_here5;
    {
        const int k = k_begin;
        if (k < k_end) {
            p_below1 = p[(i + nx * j + plane * k) + 1 - (nx * ny)];
            p_here1 = p[(i + nx * j + plane * k) + 1];
            p_below2 = p[(i + nx * j + plane * k) + nx - (nx * ny)];
            p_here2 = p[(i + nx * j + plane * k) + nx];
            p_below3 = p[(i + nx * j + plane * k) - 1 - (nx * ny)];
            p_here3 = p[(i + nx * j + plane * k) - 1];
            p_below4 = p[(i + nx * j + plane * k) - nx - (nx * ny)];
            p_here4 = p[(i + nx * j + plane * k) - nx];
            p_below5 = p[(i + nx * j + plane * k) - (nx * ny)];
            p_here5 = p[(i + nx * j + plane * k)];
        }
    }
    for (int k = k_begin; k < k_end; k++) {
        int c = i + nx * j + plane * k;
        const float p_above1 = p[c + 1 + plane];
        const float p_above2 = p[c + nx + plane];
        const float p_above3 = p[c - 1 + plane];
        const float p_above4 = p[c - nx + plane];
        const float p_above5 = p[c + plane];
        float s0 = a0[c] * p_here1 + a1[c] * p_here2 + a2[c] * p_above5
                 + b0[c] * (p[c + 1 + nx] - p[c + 1 - nx] - p[c - 1 + nx] + p[c - 1 - nx])
                 + b1[c] * (p_above2 - p_above4 - p_below2 + p_below4)
                 + b2[c] * (p_above1 - p_above3 - p_below1 + p_below3)
                 + c0[c] * p_here3 + c1[c] * p_here4 + c2[c] * p_below5 + wrk1[c];
        float ss = (s0 * a3[c] - p_here5) * bnd[c];
        wrk2[c] = p_here5 + 0.8f * ss;
        p_below1 = p_here1;
        p_here1 = p_above1;
        p_below2 = p_here2;
        p_here2 = p_above2;
        p_below3 = p_here3;
        p_here3 = p_above3;
        p_below4 = p_here4;
        p_here4 = p_above4;
        p_below5 = p_here5;
        p_here5 = p_above5;
    }
}

// The launch, which `--auto` edits as well.
static void launch(const float *p, const float *a0, const float *a1, const float *a2, const float *a3, const float *b0, const float *b1, const float *b2, const float *c0, const float *c1, const float *c2, const float *bnd, const float *wrk1,
                   float *wrk2, int nx, int ny, int nz) {
    dim3 block(BX, BY), grid((nx - 2 + BX - 1) / BX, (ny - 2 + BY - 1) / BY);
    jacobi<<<dim3(grid.x, grid.y, min((int)(nz - 1 - 1) / 2 + 1, 65535)), block>>>(p, a0, a1, a2, a3, b0, b1, b2, c0, c1, c2, bnd, wrk1, wrk2, nx, ny, nz);
}
#define LAUNCH launch
