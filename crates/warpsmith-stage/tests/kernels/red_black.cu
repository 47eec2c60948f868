// A sweep over the points of one colour, in place: those read the points of the other one.
#define BX 16
#define BY 16

__global__ void sweep(float *u, const float *rhs, int n, int m, int colour, float omega) {
    __shared__ float t[BY][BX];
    int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    if (x < n && y < m) t[threadIdx.y][threadIdx.x] = u[y * n + x];
    __syncthreads();
    if (x < 1 || y < 1 || x >= n - 1 || y >= m - 1 || ((x + y) & 1) != colour) return;
    float sum = __opt__(u[y * n + x - 1]) + __opt__(u[y * n + x + 1]) + __opt__(u[(y - 1) * n + x]) + __opt__(u[(y + 1) * n + x]);
    u[y * n + x] = (1 - omega) * t[threadIdx.y][threadIdx.x] + omega * 0.25f * (sum - rhs[y * n + x]);
}
