// same-as: references.c:distances
#define T 16
__global__ void distances_tiled(int n, int m, int d, const float *p, const float *q, float *out) {
    __shared__ float ps[T][T + 1], qs[T][T + 1];
    int i = blockIdx.y * T + threadIdx.y, j = blockIdx.x * T + threadIdx.x, jj = blockIdx.x * T + threadIdx.y;
    float sum = 0;
    for (int c = 0; c < d; c += T) {
        int own = c + threadIdx.x;
        ps[threadIdx.y][threadIdx.x] = i < n && own < d ? p[i * d + own] : 0;
        qs[threadIdx.y][threadIdx.x] = jj < m && own < d ? q[jj * d + own] : 0;
        __syncthreads();
        for (int k = 0; k < T; k++) {
            float t = ps[threadIdx.y][k] - qs[threadIdx.x][k];
            sum += t * t;
        }
        __syncthreads();
    }
    if (i < n && j < m) out[i * m + j] = sum;
}
void distances(int n, int m, int d, const float *p, const float *q, float *out) {
    distances_tiled<<<dim3((m + T - 1) / T, (n + T - 1) / T), dim3(T, T)>>>(n, m, d, p, q, out);
}
// right: #define T 16 => #define T 8
// right: sum += t * t; => sum = fmaf(t, t, sum);
// fault: jj < m && own < d ? => jj < m ?
// fault: ps[threadIdx.y][k] - qs => ps[threadIdx.y][k] + qs
// fault: qs[threadIdx.x][k] => qs[k][threadIdx.x]
// fault: sum += t * t => sum += fabsf(t)
// fault: c < d; c += T => c + T <= d; c += T
// fault: i * m + j] = sum => j * n + i] = sum
// fault: jj = blockIdx.x * T + threadIdx.y => jj = blockIdx.y * T + threadIdx.y
// fault: k < T; k++ => k < T - 1; k++
// fault: p[i * d + own] => p[own * n + i]
// fault: __syncthreads();\n    } => }
// fault: float t = ps[threadIdx.y][k] - qs[threadIdx.x][k];\n            sum += t * t => float t = ps[threadIdx.y][k], u = qs[threadIdx.x][k];\n            sum += t * t - 2 * t * u + u * u * 1.0001f
