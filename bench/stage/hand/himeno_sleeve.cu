// By hand, the plan of examples/stage/himeno_sleeve.cu: a tile with a halo, corners with the rows that they belong to.
#define BX 32
#define BY 4

__global__ void jacobi(const float *p, const float *a0, const float *a1, const float *a2, const float *a3, const float *b0, const float *b1, const float *b2, const float *c0, const float *c1, const float *c2, const float *bnd, const float *wrk1,
                       float *wrk2, int nx, int ny, int nz) {
    __shared__ float tile[BY + 2][BX + 2];
    const int i = blockIdx.x * BX + threadIdx.x + 1, j = blockIdx.y * BY + threadIdx.y + 1;
    const int x = threadIdx.x + 1, y = threadIdx.y + 1;
    const int plane = nx * ny;
    const bool inner = i < nx - 1 && j < ny - 1;
    const bool west = x == 1, east = x == BX || i == nx - 2, north = y == 1, south = y == BY || j == ny - 2;
    int c = i + nx * j + plane;
    for (int k = 1; k < nz - 1; k++, c += plane) {
        if (inner) {
            tile[y][x] = p[c];
            if (west) tile[y][0] = p[c - 1];
            if (east) tile[y][x + 1] = p[c + 1];
            if (north) {
                tile[0][x] = p[c - nx];
                if (west) tile[0][0] = p[c - nx - 1];
                if (east) tile[0][x + 1] = p[c - nx + 1];
            }
            if (south) {
                tile[y + 1][x] = p[c + nx];
                if (west) tile[y + 1][0] = p[c + nx - 1];
                if (east) tile[y + 1][x + 1] = p[c + nx + 1];
            }
        }
        __syncthreads();
        if (inner) {
            float s0 = a0[c] * tile[y][x + 1] + a1[c] * tile[y + 1][x] + a2[c] * p[c + plane]
                     + b0[c] * (tile[y + 1][x + 1] - tile[y - 1][x + 1] - tile[y + 1][x - 1] + tile[y - 1][x - 1])
                     + b1[c] * (p[c + nx + plane] - p[c - nx + plane] - p[c + nx - plane] + p[c - nx - plane])
                     + b2[c] * (p[c + 1 + plane] - p[c - 1 + plane] - p[c + 1 - plane] + p[c - 1 - plane])
                     + c0[c] * tile[y][x - 1] + c1[c] * tile[y - 1][x] + c2[c] * p[c - plane] + wrk1[c];
            float ss = (s0 * a3[c] - tile[y][x]) * bnd[c];
            wrk2[c] = tile[y][x] + 0.8f * ss;
        }
        __syncthreads();
    }
}
