// C = A * A^T, both from tiles, column tile transposed
#define TS 16
__global__ void syrk(const float *A, float *C, int n, int k)
{
    __shared__ float ta[TS][TS + 1];
    __shared__ float tb[TS][TS + 1];
    int col = blockIdx.x * TS + threadIdx.x;
    int row = blockIdx.y * TS + threadIdx.y;
    int crow = blockIdx.x * TS + threadIdx.y;
    float s = 0;
    for (int p0 = 0; p0 < k; p0 += TS) {
        int p = p0 + threadIdx.x;
        if (row < n && p < k) ta[threadIdx.y][threadIdx.x] = A[row * k + p];
        if (crow < n && p < k) tb[threadIdx.y][threadIdx.x] = A[crow * k + p];
        __syncthreads();
        if (row < n && col < n)
            for (int p = p0; p < p0 + TS && p < k; ++p)
                s += __opt__(A[row * k + p]) * __opt__(A[col * k + p]);
        __syncthreads();
    }
    if (row < n && col < n) C[row * n + col] = s;
}
