// Game of Life on a torus of bytes, a plain and a tiled generation: boolean arithmetic, wrap-around, a switch on the count.
typedef unsigned char ubyte;

__device__ int wrap(int v, int n) { return (v + n) % n; }

// warpsmith: grid=2,2 block=16,16 arg a=uchar[32][32]=random arg b=uchar[32][32] arg w=32 arg h=32
// warpsmith: grid=3,2 block=8,8 arg a=uchar[11][19]=random arg b=uchar[11][19] arg w=19 arg h=11
__global__ void life_even(const ubyte *a, ubyte *b, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) {
        int alive = 0;
        for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx)
                if (dx || dy) alive += a[wrap(y + dy, h) * w + wrap(x + dx, w)] & 1;
        b[y * w + x] = (alive == 3 || (alive == 2 && (a[y * w + x] & 1))) ? 1 : 0;
    }
}

// warpsmith: grid=3,2 block=8,8 arg b=uchar[11][19]=random arg a=uchar[11][19] arg w=19 arg h=11
__global__ void life_odd(const ubyte *b, ubyte *a, int w, int h)
{
    __shared__ ubyte cells[10][12];
    const int x0 = blockIdx.x * 8 - 1, y0 = blockIdx.y * 8 - 1;
    for (int i = threadIdx.y * 8 + threadIdx.x; i < 100; i += 64)
        cells[i / 10][i % 10] = b[wrap(y0 + i / 10, h) % h * w + wrap(x0 + i % 10, w) % w] & 1;
    __syncthreads();
    const int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x >= w || y >= h) return;
    const int cx = threadIdx.x + 1, cy = threadIdx.y + 1;
    int alive = -cells[cy][cx];
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) alive += cells[cy + dy][cx + dx];
    switch (alive) {
    case 2: a[y * w + x] = cells[cy][cx]; break;
    case 3: a[y * w + x] = 1; break;
    default: a[y * w + x] = 0;
    }
}
