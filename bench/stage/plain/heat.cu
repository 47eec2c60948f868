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
    for (int k = 0; k < nz; k++) {
        out[c] = cc * in[c] + cw * in[i == 0 ? c : c - 1] + ce * in[i == nx - 1 ? c : c + 1]
               + cn * in[j == 0 ? c : c - nx] + cs * in[j == ny - 1 ? c : c + nx]
               + cb * in[k == 0 ? c : c - plane] + ct * in[k == nz - 1 ? c : c + plane];
        c += plane;
    }
}

// The launch, which `--auto` edits as well.
static void launch(const float *in, float *out, int nx, int ny, int nz, float cc, float cw, float ce, float cn,
                   float cs, float cb, float ct) {
    dim3 block(BX, BY), grid((nx + BX - 1) / BX, (ny + BY - 1) / BY);
    heat<<<grid, block>>>(in, out, nx, ny, nz, cc, cw, ce, cn, cs, cb, ct);
}
#define LAUNCH launch
