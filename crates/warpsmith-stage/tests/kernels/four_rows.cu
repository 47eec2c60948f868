// each thread computes 4 rows; tile of 4*BY rows
#define BX 32
#define BY 4
#define PER 4
__global__ void coarse(const float *in, float *out, int nx, int ny)
{
    __shared__ float t[BY * PER][BX];
    int i = blockIdx.x * BX + threadIdx.x;
    int j0 = blockIdx.y * (BY * PER) + threadIdx.y;
    for (int r = 0; r < PER; r++) {
        int j = j0 + r * BY;
        if (i < nx && j < ny) t[threadIdx.y + r * BY][threadIdx.x] = in[j * nx + i];
    }
    __syncthreads();
    for (int r = 0; r < PER; r++) {
        int j = j0 + r * BY;
        if (i > 0 && i < nx - 1 && j < ny)
            out[j * nx + i] = __opt__(in[j * nx + i - 1]) + __opt__(in[j * nx + i + 1]);
    }
}
