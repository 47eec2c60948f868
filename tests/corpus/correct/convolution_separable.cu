// Separable blur of two kernels run in order on shared named buffers: rows into tmp, columns out of it.
#define R 2
__device__ const float weights[2 * R + 1] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};

__device__ __forceinline__ int clampi(int v, int lo, int hi) { return v < lo ? lo : (v > hi ? hi : v); }

// warpsmith: grid=2,30 block=16 arg img=float[30][19]=random arg tmp=float[30][19] arg w=19 arg h=30
__global__ void blur_rows(const float *img, float *tmp, int w, int h)
{
    __shared__ float line[16 + 2 * R];
    const int y = blockIdx.y, x0 = blockIdx.x * blockDim.x;
    for (int i = threadIdx.x; i < 16 + 2 * R; i += blockDim.x)
        line[i] = img[y * w + clampi(x0 + i - R, 0, w - 1)];
    __syncthreads();
    const int x = x0 + threadIdx.x;
    if (x < w) {
        float s = 0;
        for (int k = -R; k <= R; ++k) s += weights[k + R] * line[threadIdx.x + R + k];
        tmp[y * w + x] = s;
    }
}

// warpsmith: grid=2,4 block=16,8 arg tmp=float[30][19] arg out=float[30][19] arg w=19 arg h=30
__global__ void blur_columns(const float *tmp, float *out, int w, int h)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) {
        float s = 0;
        for (int k = -R; k <= R; ++k) s += weights[k + R] * tmp[clampi(y + k, 0, h - 1) * w + x];
        out[y * w + x] = s;
    }
}

// warpsmith: run blur_rows, blur_columns
