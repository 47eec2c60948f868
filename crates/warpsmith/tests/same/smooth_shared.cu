// same-as: references.c:smooth
#define R 3
__global__ void smooth_shared(int n, const float *x, const float *w, float *y) {
    __shared__ float s[64 + 2 * R];
    int i = blockIdx.x * 64 + threadIdx.x;
    s[threadIdx.x + R] = i < n ? x[i] : 0;
    if (threadIdx.x < R) {
        s[threadIdx.x] = i >= R ? x[i - R] : 0;
        s[threadIdx.x + 64 + R] = i + 64 < n ? x[i + 64] : 0;
    }
    __syncthreads();
    if (i >= n) return;
    float sum = 0;
    for (int k = 0; k <= 2 * R; k++) sum += w[k] * s[threadIdx.x + k];
    y[i] = sum;
}
void smooth(int n, const float *x, const float *w, float *y) { smooth_shared<<<(n + 63) / 64, 64>>>(n, x, w, y); }
// fault: k <= 2 * R => k < 2 * R
// fault: i >= R ? x => i > 64 ? x
// fault: i + 64 < n ? x => i + 65 < n ? x
// fault: s[threadIdx.x + k]; => s[threadIdx.x + R];
// fault: threadIdx.x < R) { => threadIdx.x < R - 1) {
// fault: w[k] * => w[2 * R - k] *
// fault: __syncthreads();\n =>
// fault: x[i - R] : 0 => x[i - R + 1] : 0
