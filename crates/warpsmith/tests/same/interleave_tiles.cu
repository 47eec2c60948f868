// same-as: references.cu:interleave
// A transposition through shared memory.
__global__ void interleave_tiles(int n, int k, const float *planes, float *out) {
    __shared__ float tile[32][33];
    int i0 = blockIdx.x * 32, c0 = blockIdx.y * 32;
    for (int r = threadIdx.y; r < 32; r += 8)
        if (c0 + r < k && i0 + threadIdx.x < n) tile[r][threadIdx.x] = planes[(c0 + r) * n + i0 + threadIdx.x];
    __syncthreads();
    for (int r = threadIdx.y; r < 32; r += 8)
        if (i0 + r < n && c0 + threadIdx.x < k) out[(i0 + r) * k + c0 + threadIdx.x] = tile[threadIdx.x][r];
}
void interleave(int n, int k, const float *planes, float *out) {
    interleave_tiles<<<dim3((n + 31) / 32, (k + 31) / 32), dim3(32, 8)>>>(n, k, planes, out);
}
// right: tile[32][33] => tile[32][32]
// right: r += 8)\n        if (c0 => r += blockDim.y)\n        if (c0
// fault: tile[threadIdx.x][r]; => tile[r][threadIdx.x];
// fault: c0 + r < k && i0 => c0 + r <= k && i0
// fault: i0 + r < n && c0 + threadIdx.x < k => i0 + r < n
// fault: (i0 + r) * k + c0 => (c0 + r) * k + i0
// fault: r < 32; r += 8)\n        if (i0 => r < 31; r += 8)\n        if (i0
// fault: (k + 31) / 32 => (k + 32) / 33
// fault: __syncthreads(); =>
// fault: planes[(c0 + r) * n => planes[(c0 + r) * k
// fault: (n + 31) / 32, (k + 31) / 32 => n / 32 + 1, k / 32 + (k % 32 > 1)
// fault: i0 + threadIdx.x < n) tile => i0 + threadIdx.x < k) tile
