#define T 16
__global__ void matmul(const float *a, const float *b, float *c, int n) {
    __shared__ float as[T][T];
    __shared__ float bs[T][T];
    int row = blockIdx.y * T + threadIdx.y;
    int col = blockIdx.x * T + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < n; t += T) {
        as[threadIdx.y][threadIdx.x] = row < n && t + threadIdx.x < n ? a[row * n + t + threadIdx.x] : 0.0f;
        bs[threadIdx.y][threadIdx.x] = t + threadIdx.y < n && col < n ? b[(t + threadIdx.y) * n + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T && t + k < n; k++) {
            if (row < n && col < n) sum += __opt__(a[row * n + t + k]) * __opt__(b[(t + k) * n + col]);
        }
        __syncthreads();
    }
    if (row < n && col < n) c[row * n + col] = sum;
}
