// same-as: references.c:heat_steps
// A launch a time step; the arrays change places.
#include <utility>
__global__ void step(int n, const float *in, float *out) {
    __shared__ float tile[66];
    int i = blockIdx.x * 64 + threadIdx.x, at = threadIdx.x + 1;
    if (i < n) tile[at] = in[i];
    if (threadIdx.x == 0 && i > 0) tile[0] = in[i - 1];
    if (threadIdx.x == 63 && i + 1 < n) tile[65] = in[i + 1];
    __syncthreads();
    if (i >= n) return;
    out[i] = i == 0 || i == n - 1 ? tile[at] : 0.25f * tile[at - 1] + 0.5f * tile[at] + 0.25f * tile[at + 1];
}
__global__ void copy(int n, const float *in, float *out) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = in[i];
}
void heat(int n, int steps, float *u, float *v) {
    float *in = u, *out = v;
    for (int t = 0; t < steps; t++) {
        step<<<(n + 63) / 64, 64>>>(n, in, out);
        std::swap(in, out);
    }
    // Both hold the last step.
    if (steps > 0) copy<<<1, 128>>>(n, in, out);
}
// fault: t < steps; t++ => t < steps - 1; t++
// fault: std::swap(in, out); => {}
// fault: (n + 63) / 64, 64 => n / 64 + 0, 64
// fault: threadIdx.x == 63 && i + 1 < n => threadIdx.x == 63 && i + 1 < n - 1
// fault:     __syncthreads();\n    if =>     if
// fault: copy<<<1, 128>>>(n, in, out) => copy<<<1, 128>>>(n / 2, in, out)
// fault: copy<<<1, 128>>>(n, in, out) => copy<<<1, 128>>>(n, out, in)
// fault: 0.5f * tile[at] => 0.5f * tile[at - 1]
// right: std::swap(in, out); => float *held = in; in = out; out = held;
// right: for (int t = 0; t < steps; t++) { => int t = 0;\n    while (t++ < steps) {
