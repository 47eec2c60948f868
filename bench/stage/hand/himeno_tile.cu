// By hand, the plan of examples/stage/himeno.cu: the block's part of a plane in a tile, what lies outside from memory.
#define BX 32
#define BY 4

__global__ void jacobi(const float *p, const float *a0, const float *a1, const float *a2, const float *a3, const float *b0, const float *b1, const float *b2, const float *c0, const float *c1, const float *c2, const float *bnd, const float *wrk1,
                       float *wrk2, int nx, int ny, int nz) {
    __shared__ float tile[BY][BX];
    const int i = blockIdx.x * BX + threadIdx.x + 1, j = blockIdx.y * BY + threadIdx.y + 1;
    const int x = threadIdx.x, y = threadIdx.y;
    const int plane = nx * ny;
    const bool inner = i < nx - 1 && j < ny - 1;
    const bool west = x > 0, east = x < BX - 1 && i < nx - 2, north = y > 0, south = y < BY - 1 && j < ny - 2;
    int c = i + nx * j + plane;
    for (int k = 1; k < nz - 1; k++, c += plane) {
        if (inner) tile[y][x] = p[c];
        __syncthreads();
        if (inner) {
            const float tc = tile[y][x];
            const float te = east ? tile[y][x + 1] : p[c + 1], tw = west ? tile[y][x - 1] : p[c - 1];
            const float ts = south ? tile[y + 1][x] : p[c + nx], tn = north ? tile[y - 1][x] : p[c - nx];
            const float tse = south && east ? tile[y + 1][x + 1] : p[c + nx + 1];
            const float tsw = south && west ? tile[y + 1][x - 1] : p[c + nx - 1];
            const float tne = north && east ? tile[y - 1][x + 1] : p[c - nx + 1];
            const float tnw = north && west ? tile[y - 1][x - 1] : p[c - nx - 1];
            float s0 = a0[c] * te + a1[c] * ts + a2[c] * p[c + plane]
                     + b0[c] * (tse - tne - tsw + tnw)
                     + b1[c] * (p[c + nx + plane] - p[c - nx + plane] - p[c + nx - plane] + p[c - nx - plane])
                     + b2[c] * (p[c + 1 + plane] - p[c - 1 + plane] - p[c + 1 - plane] + p[c - 1 - plane])
                     + c0[c] * tw + c1[c] * tn + c2[c] * p[c - plane] + wrk1[c];
            float ss = (s0 * a3[c] - tc) * bnd[c];
            wrk2[c] = tc + 0.8f * ss;
        }
        __syncthreads();
    }
}
