// column major, row index = x
#define NB 16
__global__ void colstencil(const float *u, float *v, int rows, int cols)
{
    int r = blockIdx.x * NB + threadIdx.x;
    int c = blockIdx.y * NB + threadIdx.y;
    __shared__ float t[NB][NB + 1];
    if (r < rows && c < cols) t[threadIdx.x][threadIdx.y] = u[r + c * rows];
    __syncthreads();
    if (r < rows && c < cols) {
        float s = 0.f;
        if (r > 0) s += __opt__(u[(r - 1) + c * rows]);
        if (r < rows - 1) s += __opt__(u[(r + 1) + c * rows]);
        if (c > 0) s += __opt__(u[r + (c - 1) * rows]);
        if (c < cols - 1) s += __opt__(u[r + (c + 1) * rows]);
        v[r + c * rows] = s - 4.f * __opt__ u[r + c * rows];
    }
}
