// By hand, the plan of examples/stage/heat_sleeve.cu: a tile with a halo of one element.
#define BX 32
#define BY 8

__global__ void heat(const float *in, float *out, int nx, int ny, int nz, float cc, float cw, float ce, float cn,
                     float cs, float cb, float ct) {
    __shared__ float tile[BY + 2][BX + 2];
    const int x = threadIdx.x + 1, y = threadIdx.y + 1;
    const int i = blockIdx.x * BX + threadIdx.x, j = blockIdx.y * BY + threadIdx.y;
    const bool inside = i < nx && j < ny;
    const int plane = nx * ny;
    int c = i + nx * j;
    for (int k = 0; k < nz; k++, c += plane) {
        if (inside) {
            tile[y][x] = in[c];
            if (x == 1) tile[y][0] = in[i == 0 ? c : c - 1];
            if (x == BX || i == nx - 1) tile[y][x + 1] = in[i == nx - 1 ? c : c + 1];
            if (y == 1) tile[0][x] = in[j == 0 ? c : c - nx];
            if (y == BY || j == ny - 1) tile[y + 1][x] = in[j == ny - 1 ? c : c + nx];
        }
        __syncthreads();
        if (inside)
            out[c] = cc * tile[y][x] + cw * tile[y][x - 1] + ce * tile[y][x + 1] + cn * tile[y - 1][x] + cs * tile[y + 1][x]
                   + cb * in[k == 0 ? c : c - plane] + ct * in[k == nz - 1 ? c : c + plane];
        __syncthreads();
    }
}
