// A filter whose border is clamped inside of the subscript.
#define BW 16
#define BH 16
#define K 3
__constant__ float mask[K][K];
__device__ int clampi(int v, int lo, int hi) { return v < lo ? lo : (v > hi ? hi : v); }
__global__ void filter3(const float *__restrict__ image, float *__restrict__ result, int cols, int rows) {
    __shared__ float patch[BH * BW];
    const int gx = blockIdx.x * BW + threadIdx.x;
    const int gy = blockIdx.y * BH + threadIdx.y;
    const int tid = threadIdx.y * BW + threadIdx.x;
    if (gx < cols && gy < rows)
        patch[tid] = image[gy * cols + gx];
    __syncthreads();
    if (gx < cols && gy < rows) {
        float v = 0;
#pragma unroll
        for (int a = 0; a < K; a++)
#pragma unroll
            for (int b = 0; b < K; b++)
                v += mask[a][b] * __opt__(image[clampi(gy + a - 1, 0, rows - 1) * cols + clampi(gx + b - 1, 0, cols - 1)]);
        result[gy * cols + gx] = v;
    }
}
