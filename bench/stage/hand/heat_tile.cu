// By hand, the plan of examples/stage/heat.cu: the block's part of a plane in a tile, what lies outside from memory.
#define BX 32
#define BY 8

__global__ void heat(const float *in, float *out, int nx, int ny, int nz, float cc, float cw, float ce, float cn,
                     float cs, float cb, float ct) {
    __shared__ float tile[BY][BX];
    const int x = threadIdx.x, y = threadIdx.y;
    const int i = blockIdx.x * BX + x, j = blockIdx.y * BY + y;
    const bool inside = i < nx && j < ny;
    const int plane = nx * ny;
    const int west = i == 0 ? 0 : -1, east = i == nx - 1 ? 0 : 1;
    const int north = j == 0 ? 0 : -1, south = j == ny - 1 ? 0 : 1;
    int c = i + nx * j;
    for (int k = 0; k < nz; k++, c += plane) {
        if (inside) tile[y][x] = in[c];
        __syncthreads();
        if (inside) {
            float w = x + west >= 0 ? tile[y][x + west] : in[c - 1];
            float e = x + east < BX ? tile[y][x + east] : in[c + 1];
            float n = y + north >= 0 ? tile[y + north][x] : in[c - nx];
            float s = y + south < BY ? tile[y + south][x] : in[c + nx];
            out[c] = cc * tile[y][x] + cw * w + ce * e + cn * n + cs * s + cb * in[k == 0 ? c : c - plane]
                   + ct * in[k == nz - 1 ? c : c + plane];
        }
        __syncthreads();
    }
}
