// 9-point with halo, non-clamped if border, form b, radius 1 2-D, thread-block named differently
const int W = 32, H = 8;
__global__ void life(const unsigned char *grid, unsigned char *next, int cols, int rows)
{
    __shared__ unsigned char g[H + 2][W + 2];
    int c = blockIdx.x * W + threadIdx.x, r = blockIdx.y * H + threadIdx.y;
    int x = threadIdx.x + 1, y = threadIdx.y + 1;
    if (c < cols && r < rows) {
        g[y][x] = grid[r * cols + c];
        __insert();
    }
    __syncthreads();
    if (c > 0 && r > 0 && c < cols - 1 && r < rows - 1) {
        int n = __opt__(g[y - 1][x - 1], grid[(r - 1) * cols + c - 1]) + __opt__(g[y - 1][x], grid[(r - 1) * cols + c]) + __opt__(g[y - 1][x + 1], grid[(r - 1) * cols + c + 1])
              + __opt__(g[y][x - 1], grid[r * cols + c - 1]) + __opt__(g[y][x + 1], grid[r * cols + c + 1])
              + __opt__(g[y + 1][x - 1], grid[(r + 1) * cols + c - 1]) + __opt__(g[y + 1][x], grid[(r + 1) * cols + c]) + __opt__(g[y + 1][x + 1], grid[(r + 1) * cols + c + 1]);
        next[r * cols + c] = n == 3 || n == 7;
    }
}
