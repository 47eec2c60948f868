// 2-D convolution with the filter in initialised __constant__ memory: uniform constant reads, clamped borders.
#define MASK_RADIUS 2
#define MASK_WIDTH (2 * MASK_RADIUS + 1)

__constant__ float Mask[MASK_WIDTH][MASK_WIDTH] = {
    {1 / 273.f, 4 / 273.f, 7 / 273.f, 4 / 273.f, 1 / 273.f},
    {4 / 273.f, 16 / 273.f, 26 / 273.f, 16 / 273.f, 4 / 273.f},
    {7 / 273.f, 26 / 273.f, 41 / 273.f, 26 / 273.f, 7 / 273.f},
    {4 / 273.f, 16 / 273.f, 26 / 273.f, 16 / 273.f, 4 / 273.f},
    {1 / 273.f, 4 / 273.f, 7 / 273.f, 4 / 273.f, 1 / 273.f}};

// warpsmith: grid=2,2 block=16,16 arg w=32 arg h=32 arg src=float[32][32]=random arg dst=float[32][32]
// warpsmith: grid=2,2 block=16,16 arg w=21 arg h=30 arg src=float[30][21]=random arg dst=float[30][21]
__global__ void convolve(const float *src, float *dst, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;

    float sum = 0.0f;
    for (int dy = -MASK_RADIUS; dy <= MASK_RADIUS; dy++) {
        for (int dx = -MASK_RADIUS; dx <= MASK_RADIUS; dx++) {
            int sx = x + dx, sy = y + dy;
            if (sx < 0 || sy < 0 || sx >= w || sy >= h) continue;
            sum += Mask[dy + MASK_RADIUS][dx + MASK_RADIUS] * src[sy * w + sx];
        }
    }
    dst[y * w + x] = sum;
}
