// same-as: references.c:layernorm
// A warp a row, four rows a block.
__device__ float over_warp(float v) {
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
    return v;
}
__global__ void layernorm_warps(int rows, int cols, const float *x, const float *gain, const float *bias, float *y) {
    int r = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    const float *own = x + r * cols;
    float sum = 0;
    for (int c = lane; c < cols; c += 32) sum += own[c];
    float mean = over_warp(sum) / cols, square = 0;
    for (int c = lane; c < cols; c += 32) {
        float d = own[c] - mean;
        square += d * d;
    }
    float scale = 1.0f / sqrtf(over_warp(square) / cols + 1e-3f);
    for (int c = lane; c < cols; c += 32) y[r * cols + c] = (own[c] - mean) * scale * gain[c] + bias[c];
}
void layernorm(int rows, int cols, const float *x, const float *gain, const float *bias, float *y) {
    layernorm_warps<<<(rows + 3) / 4, 128>>>(rows, cols, x, gain, bias, y);
}
// right: 1.0f / sqrtf(over_warp(square) / cols + 1e-3f) => rsqrtf(over_warp(square) / cols + 1e-3f)
// right: int d = 16; d > 0; d /= 2 => int d = 1; d < 32; d *= 2
// fault: int d = 16; d > 0 => int d = 16; d > 1
// fault: (rows + 3) / 4 => rows / 4
// fault: int c = lane; c < cols; c += 32) sum => int c = lane; c < cols - 1; c += 32) sum
// fault: + 1e-3f => + 1e-2f
// fault: over_warp(square) / cols => over_warp(square) / (cols - 1)
// fault: float d = own[c] - mean => float d = own[c]
// fault: * gain[c] + bias[c] => * (gain[c] + bias[c])
// fault: gain[c] + bias => gain[lane] + bias
// fault: x + r * cols => x + r * rows
// fault: over_warp(sum) / cols => over_warp(sum) / 32
// fault: int d = 16; => int d = 8;
