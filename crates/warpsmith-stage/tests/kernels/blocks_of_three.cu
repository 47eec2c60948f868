// 3-D block
#define X 8
#define Y 8
#define Z 4
__global__ void lap(const float *u, float *v, int nx, int ny, int nz)
{
    __shared__ float t[Z][Y][X];
    int i = blockIdx.x * X + threadIdx.x;
    int j = blockIdx.y * Y + threadIdx.y;
    int k = blockIdx.z * Z + threadIdx.z;
    size_t p = ((size_t)k * ny + j) * nx + i;
    bool in = i < nx && j < ny && k < nz;
    if (in) t[threadIdx.z][threadIdx.y][threadIdx.x] = u[p];
    __syncthreads();
    if (i > 0 && i < nx - 1 && j > 0 && j < ny - 1 && k > 0 && k < nz - 1)
        v[p] = __opt__(u[p - 1]) + __opt__(u[p + 1]) + __opt__(u[p - nx]) + __opt__(u[p + nx]) + __opt__(u[p - (size_t)nx * ny]) + __opt__(u[p + (size_t)nx * ny]) - 6 * __opt__(u[p]);
}
