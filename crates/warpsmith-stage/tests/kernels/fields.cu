// Fields in structures that kernels get pointers to.
struct Field { float *data; int nx; int ny; };
#define BX 32
#define BY 8
__global__ void update_e(struct Field *hz, struct Field *ex, float c) {
    __shared__ float sh[BY][BX];
    int i = blockIdx.x * BX + threadIdx.x;
    int j = blockIdx.y * BY + threadIdx.y;
    int nx = hz->nx, ny = hz->ny;
    if (i < nx && j < ny) sh[threadIdx.y][threadIdx.x] = hz->data[j * nx + i];
    __syncthreads();
    if (i < nx && j > 0 && j < ny)
        ex->data[j * nx + i] -= c * (__opt__(hz->data[j * nx + i]) - __opt__(hz->data[(j - 1) * nx + i]));
}
