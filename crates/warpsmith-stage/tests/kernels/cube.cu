#define BX 8
#define BY 8
#define BZ 4
__global__ void box27(const float *a, float *b, int nx, int ny, int nz) {
    __shared__ float t[BZ][BY][BX];
    int i = blockIdx.x * BX + threadIdx.x, j = blockIdx.y * BY + threadIdx.y, k = blockIdx.z * BZ + threadIdx.z;
    if (i < nx && j < ny && k < nz) t[threadIdx.z][threadIdx.y][threadIdx.x] = a[(k * ny + j) * nx + i];
    __syncthreads();
    if (i < 1 || j < 1 || k < 1 || i >= nx - 1 || j >= ny - 1 || k >= nz - 1) return;
    float s = 0;
    for (int dk = -1; dk <= 1; dk++)
        for (int dj = -1; dj <= 1; dj++)
            for (int di = -1; di <= 1; di++)
                s += __opt__(a[((k + dk) * ny + j + dj) * nx + i + di]);
    b[(k * ny + j) * nx + i] = s;
}
