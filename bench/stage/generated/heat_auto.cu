// Heat equation, seven points, clamped edges: one thread a column, no shared memory. What `--auto` starts from.
#define BX 32
#define BY 8

__global__ void heat(const float *in, float *out, int nx, int ny, int nz, float cc, float cw, float ce, float cn,
                     float cs, float cb, float ct) {
    int i = blockIdx.x * BX + threadIdx.x;
    int j = blockIdx.y * BY + threadIdx.y;
    int plane = nx * ny;
    int c = i + nx * j;
    if (i >= nx || j >= ny) return;
    // Blocks along z share this loop, whatever their number.
    const int k_run = (nz + (int)gridDim.z - 1) / (int)gridDim.z;
    const int k_begin = (int)blockIdx.z * k_run, k_end = min(nz, k_begin + k_run);
    c += k_begin * plane;
    // Planes go through registers: each is read once.
    float in_below, in_here;
    {
        const int k = k_begin;
        if (k < k_end) {
            in_below = in[k == 0 ? c : c - plane];
            in_here = in[c];
        }
    }
    for (int k = k_begin; k < k_end; k++) {
        const float in_above = in[k == nz - 1 ? c : c + plane];
        out[c] = cc * in_here + cw * in[i == 0 ? c : c - 1] + ce * in[i == nx - 1 ? c : c + 1]
               + cn * in[j == 0 ? c : c - nx] + cs * in[j == ny - 1 ? c : c + nx]
               + cb * in_below + ct * in_above;
        in_below = in_here;
        in_here = in_above;
        c += plane;
    }
}

// The launch, which `--auto` edits as well.
static void launch(const float *in, float *out, int nx, int ny, int nz, float cc, float cw, float ce, float cn,
                   float cs, float cb, float ct) {
    dim3 block(BX, BY), grid((nx + BX - 1) / BX, (ny + BY - 1) / BY);
    heat<<<dim3(grid.x, grid.y, min((int)nz / 24 + 1, 65535)), block>>>(in, out, nx, ny, nz, cc, cw, ce, cn, cs, cb, ct);
}
#define LAUNCH launch
