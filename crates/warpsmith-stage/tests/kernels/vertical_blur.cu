// macros, helper device function, double, early return
#include <cuda_runtime.h>
#define TILE_W 32
#define TILE_H 8
#define AT(a, x, y, pitch) ((a)[(size_t)(y) * (pitch) + (x)])

__device__ __forceinline__ double weighted(double c, double n, double s) { return 0.5 * c + 0.25 * (n + s); }

__global__ void vertical_blur(const double * __restrict__ src, double * __restrict__ dst, int w, int h, int pitch)
{
    __shared__ double rows[TILE_H][TILE_W];
    const int x = blockIdx.x * TILE_W + threadIdx.x;
    const int y = blockIdx.y * TILE_H + threadIdx.y;
    if (x >= w) return;
    if (y < h) rows[threadIdx.y][threadIdx.x] = AT(src, x, y, pitch);
    __syncthreads();
    if (y > 0 && y < h - 1)
        AT(dst, x, y, pitch) = weighted(__opt__(AT(src, x, y, pitch)), __opt__(AT(src, x, y - 1, pitch)), __opt__(AT(src, x, y + 1, pitch)));
}
