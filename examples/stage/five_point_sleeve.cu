// Five-point stencil with clamped edges. The tile has a halo of one element, whose copies the tool writes.
#define BX 32
#define BY 8

__global__ void five_point(const float *in, float *out, int nx, int ny) {
    __shared__ float tile[(BX + 2) * (BY + 2)];
    int i = blockIdx.x * BX + threadIdx.x;
    int j = blockIdx.y * BY + threadIdx.y;
    int c = i + nx * j;
    int s = threadIdx.x + 1 + (threadIdx.y + 1) * (BX + 2);
    if (i < nx && j < ny) {
        tile[s] = in[c];
        __insert();
    }
    __syncthreads();
    if (i < nx && j < ny) {
        out[c] = __opt__(tile[s - 1], in[i == 0 ? c : c - 1]) + __opt__(tile[s + 1], in[i == nx - 1 ? c : c + 1])
               + __opt__(tile[s - BX - 2], in[j == 0 ? c : c - nx])
               + __opt__(tile[s + BX + 2], in[j == ny - 1 ? c : c + nx]) + tile[s];
    }
}

#include <cmath>
#include <cstdio>
#include <vector>

static float next_random(unsigned *state) {
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) * (1.0f / 16777216.0f) + 0.5f;
}
static void reference(const float *in, float *out, int nx, int ny) {
    for (int j = 0; j < ny; j++)
        for (int i = 0; i < nx; i++) {
            int c = i + nx * j;
            out[c] = in[i == 0 ? c : c - 1] + in[i == nx - 1 ? c : c + 1] + in[j == 0 ? c : c - nx]
                   + in[j == ny - 1 ? c : c + nx] + in[c];
        }
}

int main() {
    const size_t size = (size_t)1000 * 701;
    std::vector<float> in(size), out(size), expected(size);
    unsigned state = 1;
    for (size_t i = 0; i < size; i++) in[i] = next_random(&state);
    float *d_in, *d_out;
    cudaMalloc(&d_in, size * sizeof(float));
    cudaMalloc(&d_out, size * sizeof(float));
    cudaMemcpy(d_in, in.data(), size * sizeof(float), cudaMemcpyHostToDevice);
    dim3 block(BX, BY);
    dim3 grid((1000 + BX - 1) / BX, (701 + BY - 1) / BY);
    five_point<<<grid, block>>>(d_in, d_out, 1000, 701);
    cudaMemcpy(out.data(), d_out, size * sizeof(float), cudaMemcpyDeviceToHost);
    reference(in.data(), expected.data(), 1000, 701);
    int wrong = 0;
    for (size_t i = 0; i < size; i++) wrong += !(std::fabs(out[i] - expected[i]) <= 1e-4f * std::fabs(expected[i]) + 1e-5f);
    std::printf("%s: %d wrong\n", wrong ? "FAILED" : "passed", wrong);
    return wrong != 0;
}
