// Five-point stencil with clamped edges: the tile has a halo.
#define BX 32
#define BY 8
__global__ void five_point(const float *in, float *out, int nx, int ny) {
    __shared__ float tile[(BX + 2) * (BY + 2)];
    int i = blockIdx.x * BX + threadIdx.x;
    int j = blockIdx.y * BY + threadIdx.y;
    int c = i + nx * j;
    int s = threadIdx.x + 1 + (threadIdx.y + 1) * (BX + 2);
    if (i < nx && j < ny) {
        tile[s] = in[c];
        __insert();
    }
    __syncthreads();
    if (i < nx && j < ny)
        out[c] = __opt__(tile[s - 1], in[i == 0 ? c : c - 1]) + __opt__(tile[s + 1], in[i == nx - 1 ? c : c + 1])
               + __opt__(tile[s - BX - 2], in[j == 0 ? c : c - nx])
               + __opt__(tile[s + BX + 2], in[j == ny - 1 ? c : c + nx]) + tile[s];
}
