// A template within namespaces, launched from one of them.
namespace img {
namespace detail {
template <typename T, int TILE_W, int TILE_H>
__global__ void range(const T *src, T *dst, int width, int height, int pitch)
{
    __shared__ T tile[TILE_H][TILE_W];
    const int x = blockIdx.x * TILE_W + threadIdx.x;
    const int y = blockIdx.y * TILE_H + threadIdx.y;
    if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = src[y * pitch + x];
    __syncthreads();
    if (x <= 0 || y <= 0 || x >= width - 1 || y >= height - 1) return;
    T lo = src[y * pitch + x];
    T hi = lo;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            const T v = __opt__(src[(y + dy) * pitch + x + dx]);
            lo = v < lo ? v : lo;
            hi = v > hi ? v : hi;
        }
    dst[y * pitch + x] = hi - lo;
}
}  // namespace detail
void range(const float *src, float *dst, int w, int h, int pitch, cudaStream_t s)
{
    constexpr int TW = 32, TH = 8;
    dim3 block(TW, TH);
    dim3 grid((w + TW - 1) / TW, (h + TH - 1) / TH);
    detail::range<float, TW, TH><<<grid, block, 0, s>>>(src, dst, w, h, pitch);
}
}  // namespace img
