// A star of radius 2 that stays inside of its domain. Macros name elements of the array and of the tile, whose halo the tool copies.
#define BDX 32
#define BDY 8
#define AT(a, x, y) a[(size_t)(y) * pitch + (x)]
#define T(dx, dy) (tile[ly + (dy)][lx + (dx)])

__global__ void wave(const float *__restrict__ cur, const float *__restrict__ prev, float *__restrict__ next, int width,
                     int height, int pitch, float k2) {
    __shared__ float tile[BDY + 4][BDX + 4];
    const int x = blockIdx.x * BDX + threadIdx.x, y = blockIdx.y * BDY + threadIdx.y;
    const int lx = threadIdx.x + 2, ly = threadIdx.y + 2;
    if (x < width && y < height) {
        T(0, 0) = AT(cur, x, y);
        __insert();
    }
    __syncthreads();
    if (x < 2 || y < 2 || x >= width - 2 || y >= height - 2) return;
    float lap = -5.0f * T(0, 0);
    lap += (4.0f / 3) * (__opt__(T(-1, 0), AT(cur, x - 1, y)) + __opt__(T(1, 0), AT(cur, x + 1, y)));
    lap += (4.0f / 3) * (__opt__(T(0, -1), AT(cur, x, y - 1)) + __opt__(T(0, 1), AT(cur, x, y + 1)));
    lap -= (1.0f / 12) * (__opt__(T(-2, 0), AT(cur, x - 2, y)) + __opt__(T(2, 0), AT(cur, x + 2, y)));
    lap -= (1.0f / 12) * (__opt__(T(0, -2), AT(cur, x, y - 2)) + __opt__(T(0, 2), AT(cur, x, y + 2)));
    AT(next, x, y) = 2 * T(0, 0) - AT(prev, x, y) + k2 * lap;
}
