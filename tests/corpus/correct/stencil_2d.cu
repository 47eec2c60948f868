// Five-point stencil on a tile with a one-cell halo, loaded by a flat loop over the block: 2-D to 1-D index arithmetic.
#define BX 16
#define BY 8
#define IDX(y, x, w) ((y) * (w) + (x))

// warpsmith: grid=2,4 block=16,8 arg nx=32 arg ny=32 arg c=0.1 arg a=float[32][32]=random arg b=float[32][32]
// warpsmith: grid=3,2 block=16,8 arg nx=37 arg ny=13 arg c=0.25 arg a=float[13][37]=random arg b=float[13][37]
__global__ void heat_2d(const float *a, float *b, int nx, int ny, float c)
{
    __shared__ float tile[BY + 2][BX + 2];
    const int x0 = blockIdx.x * BX - 1, y0 = blockIdx.y * BY - 1;

    for (int e = threadIdx.y * BX + threadIdx.x; e < (BX + 2) * (BY + 2); e += BX * BY) {
        const int ly = e / (BX + 2), lx = e % (BX + 2);
        const int gx = min(max(x0 + lx, 0), nx - 1);
        const int gy = min(max(y0 + ly, 0), ny - 1);
        tile[ly][lx] = a[IDX(gy, gx, nx)];
    }
    __syncthreads();

    const int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    if (x < nx && y < ny) {
        const int lx = threadIdx.x + 1, ly = threadIdx.y + 1;
        const float centre = tile[ly][lx];
        b[IDX(y, x, nx)] = centre + c * (tile[ly - 1][lx] + tile[ly + 1][lx] + tile[ly][lx - 1] + tile[ly][lx + 1] - 4.0f * centre);
    }
}
