// pointers moved before, while loop, anisotropic r=3 in x via halo, early return of threads out of range
#define BX 64
#define RAD 3
__constant__ float w7[7];
__global__ void conv_row(const float *src, float *dst, int width, int stride)
{
    __shared__ float line[BX + 2 * RAD];
    const float *row = src + blockIdx.y * stride;
    int x = blockIdx.x * BX + threadIdx.x;
    if (x < width) {
        line[threadIdx.x + RAD] = row[x];
        __insert();
    }
    __syncthreads();
    if (x >= width) return;
    float s = 0;
    int k = -RAD;
    while (k <= RAD) {
        s += w7[k + RAD] * __opt__(line[threadIdx.x + RAD + k], row[min(max(x + k, 0), width - 1)]);
        k++;
    }
    dst[blockIdx.y * stride + x] = s;
}
