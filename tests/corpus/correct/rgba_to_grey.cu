// Pixel conversion: uchar4 in, uchar out, integer weights, and an int4 view that clears four words at once.

// warpsmith: grid=2,2 block=16,8 arg rgba=uchar4[12][30]=random arg grey=uchar[12][30] arg w=30 arg h=12
__global__ void rgba_to_greyscale(const uchar4 *const rgba, unsigned char *const grey, int w, int h)
{
    const int2 p = make_int2(blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y);
    if (p.x >= w || p.y >= h) return;
    const uchar4 c = rgba[p.y * w + p.x];
    grey[p.y * w + p.x] = (unsigned char)((77u * c.x + 150u * c.y + 29u * c.z) >> 8);
}

// warpsmith: grid=1 block=32 arg buffer=int[128]=iota arg words=128
// warpsmith: grid=1 block=32 arg buffer=int[103]=iota arg words=103
__global__ void clear_words(int *buffer, int words)
{
    const int4 zero = {0, 0, 0, 0};
    const int quads = words / 4;
    int4 *wide = reinterpret_cast<int4 *>(buffer);
    for (int i = threadIdx.x; i < quads; i += blockDim.x) wide[i] = zero;
    for (int i = quads * 4 + threadIdx.x; i < words; i += blockDim.x) buffer[i] = 0;  // the tail
}
