// same-as: references.c:softmax
__device__ float warp_max(float v) {
    for (int d = 16; d > 0; d /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, d));
    return v;
}
__device__ float warp_sum(float v) {
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
    return v;
}
__global__ void softmax_rows(int rows, int cols, const float *x, float *y) {
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float most = -INFINITY, total = 0;
    for (int c = lane; c < cols; c += 32) most = fmaxf(most, x[row * cols + c]);
    most = warp_max(most);
    for (int c = lane; c < cols; c += 32) total += expf(x[row * cols + c] - most);
    total = warp_sum(total);
    for (int c = lane; c < cols; c += 32) y[row * cols + c] = expf(x[row * cols + c] - most) / total;
}
// warpsmith: kernel=softmax_rows grid=10 block=128 arg rows=37 arg cols=50
// fault: most = warp_max(most);\n =>
// fault: total = warp_sum(total);\n =>
// fault: c < cols; c += 32) total => c < cols - 1; c += 32) total
// fault: expf(x[row * cols + c] - most) / total; => expf(x[row * cols + c]) / total;
// fault: if (row >= rows) return; => if (row >= rows - 1) return;
// fault: d > 0; d /= 2) v += => d > 1; d /= 2) v +=
// fault: int c = lane; c < cols; c += 32) most = => int c = lane + 1; c < cols; c += 32) most =
// fault: c += 32) y => c += 64) y
