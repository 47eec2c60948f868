// same-as: references.c:softmax
// A warp a row; largest and sum are kept together in one pass and merged by shuffles.
#include <math.h>
__global__ void softmax_online(int rows, int cols, const float *x, float *y) {
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float most = -INFINITY, total = 0;
    for (int c = lane; c < cols; c += 32) {
        float v = x[row * cols + c];
        float higher = fmaxf(most, v);
        total = total * expf(most - higher) + expf(v - higher);
        most = higher;
    }
    for (int d = 16; d > 0; d /= 2) {
        float other = __shfl_xor_sync(0xffffffffu, most, d), more = __shfl_xor_sync(0xffffffffu, total, d);
        float higher = fmaxf(most, other);
        if (higher > -INFINITY) {
            total = total * expf(most - higher) + more * expf(other - higher);
            most = higher;
        }
    }
    for (int c = lane; c < cols; c += 32) y[row * cols + c] = expf(x[row * cols + c] - most) / total;
}
void softmax(int rows, int cols, const float *x, float *y) {
    softmax_online<<<(rows + 3) / 4, 128>>>(rows, cols, x, y);
}
// fault: total = total * expf(most - higher) + expf(v - higher); => total = total + expf(v - higher);
// fault: int d = 16; => int d = 8;
// fault: more * expf(other - higher) => more * expf(most - higher)
// fault: c = lane; c < cols; c += 32) y => c = lane; c < cols - 1; c += 32) y
// fault: fmaxf(most, v) => fmaxf(most, v + 1e30f)
// fault: (rows + 3) / 4 => (rows + 2) / 4
// fault: row = blockIdx.x * 4 + => row = blockIdx.x * 4 + 0 *
// right: / total; => * (1.0f / total);
// right: int d = 16; d > 0; d /= 2 => int d = 1; d < 32; d *= 2
