// An image of bytes, borders clamped into named neighbours, and a flat tile with a halo.
#define BLK_W 32
#define BLK_H 8
__global__ void sobel(const unsigned char *img, short *out, unsigned int w, unsigned int h) {
    __shared__ unsigned char px[(BLK_W + 2) * (BLK_H + 2)];
    unsigned int x = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    const unsigned int xl = x > 0 ? x - 1 : 0;
    const unsigned int xr = x < w - 1 ? x + 1 : w - 1;
    const unsigned int yu = y > 0 ? y - 1 : 0;
    const unsigned int yd = y < h - 1 ? y + 1 : h - 1;
    unsigned int s = (threadIdx.y + 1) * (BLK_W + 2) + threadIdx.x + 1;
    px[s] = img[y * w + x];
    __insert();
    __syncthreads();
    int gx = __opt__(px[s - (BLK_W + 2) + 1], img[yu * w + xr]) + 2 * __opt__(px[s + 1], img[y * w + xr]) + __opt__(px[s + (BLK_W + 2) + 1], img[yd * w + xr])
           - __opt__(px[s - (BLK_W + 2) - 1], img[yu * w + xl]) - 2 * __opt__(px[s - 1], img[y * w + xl]) - __opt__(px[s + (BLK_W + 2) - 1], img[yd * w + xl]);
    int gy = __opt__(px[s + (BLK_W + 2)], img[yd * w + x]) - __opt__(px[s - (BLK_W + 2)], img[yu * w + x]);
    out[y * w + x] = (short)(abs(gx) + abs(gy));
}
