#define B 64
__global__ void down(const float *a, float *b, int n) {
    __shared__ float t[2 * B];
    int i = blockIdx.x * B + threadIdx.x;
    for (int k = threadIdx.x; k < 2 * B; k += B) if (blockIdx.x * 2 * B + k < 2 * n) t[k] = a[blockIdx.x * 2 * B + k];
    __syncthreads();
    if (i < n) b[i] = 0.25f * (i > 0 ? __opt__(a[2 * i - 1]) : 0.0f) + 0.5f * __opt__(a[2 * i]) + 0.25f * __opt__(a[2 * i + 1]);
}
