// FIR filter: an output needs the inputs before it. Those of the block come from shared memory, earlier ones from global.
#define BLOCK 256
#define TAPS 16

__constant__ float taps[TAPS];

__global__ void fir(const float *in, float *out, int n) {
    __shared__ float line[BLOCK];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n) line[threadIdx.x] = in[i];
    __syncthreads();
    if (i >= n) return;
    float sum = 0;
    for (int t = 0; t < TAPS; t++)
        if (i - t >= 0) sum += taps[t] * __opt__(in[i - t]);
    out[i] = sum;
}

#include <cmath>
#include <cstdio>
#include <vector>

int main() {
    const int n = 100003;
    std::vector<float> in(n), out(n), h(TAPS);
    unsigned state = 1;
    auto next = [&state] {
        state = state * 1664525u + 1013904223u;
        return (state >> 8) * (1.0f / 16777216.0f) + 0.5f;
    };
    for (float &x : in) x = next();
    for (float &x : h) x = next();
    float *d_in, *d_out;
    cudaMalloc(&d_in, n * sizeof(float));
    cudaMalloc(&d_out, n * sizeof(float));
    cudaMemcpy(d_in, in.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(taps, h.data(), TAPS * sizeof(float));
    fir<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_in, d_out, n);
    if (cudaMemcpy(out.data(), d_out, n * sizeof(float), cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
    int wrong = 0;
    for (int i = 0; i < n; i++) {
        float sum = 0;
        for (int t = 0; t < TAPS && t <= i; t++) sum += h[t] * in[i - t];
        wrong += !(std::fabs(out[i] - sum) <= 1e-5f * std::fabs(sum));
    }
    printf("%s: %d of %d elements differ\n", wrong ? "failed" : "passed", wrong, n);
    return wrong != 0;
}
