// Mandelbrot iteration counts coloured into uchar4: divergent while loops with a data-dependent trip count.
__device__ int escape(float cx, float cy, int limit)
{
    float x = 0, y = 0;
    int it = 0;
    while (x * x + y * y <= 4.0f && it < limit) {
        float t = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = t;
        ++it;
    }
    return it;
}

__device__ uchar4 colour(int it, int limit)
{
    if (it == limit) return make_uchar4(0, 0, 0, 255);
    unsigned char shade = static_cast<unsigned char>(255 - (it * 255) / limit);
    return make_uchar4(shade, shade / 2, 255 - shade, 255);
}

// warpsmith: grid=2,2 block=16,16 arg image=uchar4[32][32] arg w=32 arg h=32 arg limit=64
// warpsmith: grid=3,3 block=8,8 arg image=uchar4[19][21] arg w=21 arg h=19 arg limit=33
__global__ void mandelbrot(uchar4 *image, int w, int h, int limit)
{
    const int px = blockIdx.x * blockDim.x + threadIdx.x;
    const int py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px < w && py < h) {
        const float cx = -2.2f + 3.2f * px / w;
        const float cy = -1.2f + 2.4f * py / h;
        image[py * w + px] = colour(escape(cx, cy, limit), limit);
    }
}
