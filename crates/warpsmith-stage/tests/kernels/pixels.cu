// rgba image as uchar4, component reads
#define TX 16
#define TY 16
__global__ void edge(const uchar4 *img, unsigned char *out, int w, int h)
{
    __shared__ uchar4 s[TY][TX];
    int x = threadIdx.x + blockIdx.x * TX, y = threadIdx.y + blockIdx.y * TY;
    int xc = min(x, w - 1), yc = min(y, h - 1);
    s[threadIdx.y][threadIdx.x] = img[yc * w + xc];
    __syncthreads();
    if (x >= w || y >= h) return;
    int xr = min(x + 1, w - 1);
    int g = abs(__opt__(img[y * w + xr]).y - __opt__(img[y * w + x]).y);
    out[y * w + x] = (unsigned char)g;
}
