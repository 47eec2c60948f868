// 5x5 convolution with zero padding: the tile holds what the threads of a block own.
#define R 2
#define BX 32
#define BY 8
__constant__ float weights[(2 * R + 1) * (2 * R + 1)];
__global__ void conv(const float *in, float *out, int nx, int ny) {
    __shared__ float tile[BY][BX];
    int i = blockIdx.x * BX + threadIdx.x;
    int j = blockIdx.y * BY + threadIdx.y;
    if (i < nx && j < ny) tile[threadIdx.y][threadIdx.x] = in[j * nx + i];
    __syncthreads();
    if (i >= nx || j >= ny) return;
    float sum = 0;
    for (int dy = -R; dy <= R; dy++)
        for (int dx = -R; dx <= R; dx++) {
            int x = i + dx, y = j + dy;
            if (x >= 0 && x < nx && y >= 0 && y < ny)
                sum += weights[(dy + R) * (2 * R + 1) + dx + R] * __opt__(in[y * nx + x]);
        }
    out[j * nx + i] = sum;
}

#include <cmath>
#include <cstdio>
#include <vector>

static float next_random(unsigned *state) {
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) * (1.0f / 16777216.0f) + 0.5f;
}
static float filter[(2 * R + 1) * (2 * R + 1)];
static void reference(const float *in, float *out, int nx, int ny) {
    for (int j = 0; j < ny; j++)
        for (int i = 0; i < nx; i++) {
            float sum = 0;
            for (int y = -R; y <= R; y++)
                for (int x = -R; x <= R; x++)
                    if (i + x >= 0 && i + x < nx && j + y >= 0 && j + y < ny)
                        sum += filter[(y + R) * (2 * R + 1) + x + R] * in[(j + y) * nx + i + x];
            out[j * nx + i] = sum;
        }
}

int main() {
    const size_t size = (size_t)300 * 201;
    std::vector<float> in(size), out(size), expected(size);
    unsigned state = 1;
    for (size_t i = 0; i < size; i++) in[i] = next_random(&state);
    float *d_in, *d_out;
    cudaMalloc(&d_in, size * sizeof(float));
    cudaMalloc(&d_out, size * sizeof(float));
    cudaMemcpy(d_in, in.data(), size * sizeof(float), cudaMemcpyHostToDevice);
    for (float &f : filter) f = next_random(&state);
    cudaMemcpyToSymbol(weights, filter, sizeof(filter));
    dim3 block(BX, BY);
    dim3 grid((300 + BX - 1) / BX, (201 + BY - 1) / BY);
    conv<<<grid, block>>>(d_in, d_out, 300, 201);
    cudaMemcpy(out.data(), d_out, size * sizeof(float), cudaMemcpyDeviceToHost);
    reference(in.data(), expected.data(), 300, 201);
    int wrong = 0;
    for (size_t i = 0; i < size; i++) wrong += !(std::fabs(out[i] - expected[i]) <= 1e-4f * std::fabs(expected[i]) + 1e-5f);
    std::printf("%s: %d wrong\n", wrong ? "FAILED" : "passed", wrong);
    return wrong != 0;
}
