// 1-D block handling 2-D image: thread-> (x,y) by div/mod
#define W_BLK 16
#define H_BLK 8
__global__ void sharpen(const unsigned char *src, unsigned char *dst, int width, int height)
{
    __shared__ unsigned char cache[H_BLK * W_BLK];
    int tx = threadIdx.x % W_BLK;
    int ty = threadIdx.x / W_BLK;
    int x = blockIdx.x * W_BLK + tx;
    int y = blockIdx.y * H_BLK + ty;
    if (x < width && y < height) cache[threadIdx.x] = src[y * width + x];
    __syncthreads();
    if (x > 0 && y > 0 && x < width - 1 && y < height - 1) {
        int v = 5 * __opt__(src[y * width + x]) - __opt__(src[y * width + x - 1]) - __opt__(src[y * width + x + 1])
              - __opt__(src[(y - 1) * width + x]) - __opt__(src[(y + 1) * width + x]);
        dst[y * width + x] = (unsigned char)min(max(v, 0), 255);
    }
}
int main() { sharpen<<<dim3(4, 4), W_BLK * H_BLK>>>(0, 0, 60, 30); }
