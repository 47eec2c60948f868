// Double-buffered tiles with a single barrier an iteration: only the right parity makes it race-free.
template <int T>
__device__ __forceinline__ void load_tile(float (&As)[T][T], float (&Bs)[T][T], const float *A, const float *B,
                                          int n, int row, int col, int t)
{
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int ka = t * T + tx, kb = t * T + ty;
    As[ty][tx] = (row < n && ka < n) ? A[row * n + ka] : 0.0f;
    Bs[ty][tx] = (kb < n && col < n) ? B[kb * n + col] : 0.0f;
}

// warpsmith: kernel='gemm_double_buffer<8>' grid=3,3 block=8,8 arg A=float[24][24]=random arg B=float[24][24]=random arg C=float[24][24] arg n=24
// warpsmith: kernel='gemm_double_buffer<4>' grid=4,4 block=4,4 arg A=float[15][15]=random arg B=float[15][15]=random arg C=float[15][15] arg n=15
template <int T>
__global__ void gemm_double_buffer(const float *A, const float *B, float *C, int n)
{
    __shared__ float As[2][T][T];
    __shared__ float Bs[2][T][T];
    const int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
    const int tiles = (n + T - 1) / T;
    float acc = 0.0f;
    int cur = 0;

    load_tile<T>(As[0], Bs[0], A, B, n, row, col, 0);
    __syncthreads();
    for (int t = 0; t < tiles; ++t) {
        if (t + 1 < tiles) load_tile<T>(As[cur ^ 1], Bs[cur ^ 1], A, B, n, row, col, t + 1);
        for (int k = 0; k < T; ++k) acc += As[cur][threadIdx.y][k] * Bs[cur][k][threadIdx.x];
        __syncthreads();
        cur ^= 1;
    }
    if (row < n && col < n) C[row * n + col] = acc;
}
