// Matrix product with both operands staged in square tiles.
#define T 16

__global__ void multiply(const float *a, const float *b, float *c, int n) {
    __shared__ float as[T][T];
    __shared__ float bs[T][T];
    int row = blockIdx.y * T + threadIdx.y;
    int col = blockIdx.x * T + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < n; t += T) {
        as[threadIdx.y][threadIdx.x] = row < n && t + threadIdx.x < n ? a[row * n + t + threadIdx.x] : 0.0f;
        bs[threadIdx.y][threadIdx.x] = t + threadIdx.y < n && col < n ? b[(t + threadIdx.y) * n + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T && t + k < n; k++) {
            if (row < n && col < n) sum += __opt__(a[row * n + t + k]) * __opt__(b[(t + k) * n + col]);
        }
        __syncthreads();
    }
    if (row < n && col < n) c[row * n + col] = sum;
}

#include <cmath>
#include <cstdio>
#include <vector>

static float next_random(unsigned *state) {
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) * (1.0f / 16777216.0f) + 0.5f;
}
static void reference(const float *in, float *out, int n, int) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int k = 0; k < n; k++) sum += in[i * n + k] * in[k * n + j];
            out[i * n + j] = sum;
        }
}

int main() {
    const size_t size = (size_t)200 * 200;
    std::vector<float> in(size), out(size), expected(size);
    unsigned state = 1;
    for (size_t i = 0; i < size; i++) in[i] = next_random(&state);
    float *d_in, *d_out;
    cudaMalloc(&d_in, size * sizeof(float));
    cudaMalloc(&d_out, size * sizeof(float));
    cudaMemcpy(d_in, in.data(), size * sizeof(float), cudaMemcpyHostToDevice);
    dim3 block(T, T);
    dim3 grid((200 + T - 1) / T, (200 + T - 1) / T);
    multiply<<<grid, block>>>(d_in, d_in, d_out, 200);
    cudaMemcpy(out.data(), d_out, size * sizeof(float), cudaMemcpyDeviceToHost);
    reference(in.data(), expected.data(), 200, 200);
    int wrong = 0;
    for (size_t i = 0; i < size; i++) wrong += !(std::fabs(out[i] - expected[i]) <= 1e-4f * std::fabs(expected[i]) + 1e-5f);
    std::printf("%s: %d wrong\n", wrong ? "FAILED" : "passed", wrong);
    return wrong != 0;
}
