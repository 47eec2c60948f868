// Nine-point diffusion of inner points, with a two-dimensional tile that has a halo and its corners.
#define BX 32
#define BY 8

__global__ void diffuse(const float *in, float *out, int nx, int ny) {
    __shared__ float tile[BY + 2][BX + 2];
    int i = blockIdx.x * BX + threadIdx.x + 1;
    int j = blockIdx.y * BY + threadIdx.y + 1;
    int x = threadIdx.x + 1, y = threadIdx.y + 1;
    int c = i + nx * j;
    if (i < nx - 1 && j < ny - 1) {
        tile[y][x] = in[c];
        __insert();
    }
    __syncthreads();
    if (i < nx - 1 && j < ny - 1) {
        out[c] = 0.5f * tile[y][x]
               + 0.1f * (__opt__(tile[y][x - 1], in[c - 1]) + __opt__(tile[y][x + 1], in[c + 1])
                         + __opt__(tile[y - 1][x], in[c - nx]) + __opt__(tile[y + 1][x], in[c + nx]))
               + 0.025f * (__opt__(tile[y - 1][x - 1], in[c - nx - 1]) + __opt__(tile[y - 1][x + 1], in[c - nx + 1])
                           + __opt__(tile[y + 1][x - 1], in[c + nx - 1]) + __opt__(tile[y + 1][x + 1], in[c + nx + 1]));
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
    for (int j = 1; j < ny - 1; j++)
        for (int i = 1; i < nx - 1; i++) {
            int c = i + nx * j;
            out[c] = 0.5f * in[c] + 0.1f * (in[c - 1] + in[c + 1] + in[c - nx] + in[c + nx])
                   + 0.025f * (in[c - nx - 1] + in[c - nx + 1] + in[c + nx - 1] + in[c + nx + 1]);
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
    cudaMemset(d_out, 0, size * sizeof(float));
    dim3 block(BX, BY);
    dim3 grid((998 + BX - 1) / BX, (699 + BY - 1) / BY);
    diffuse<<<grid, block>>>(d_in, d_out, 1000, 701);
    cudaMemcpy(out.data(), d_out, size * sizeof(float), cudaMemcpyDeviceToHost);
    reference(in.data(), expected.data(), 1000, 701);
    int wrong = 0;
    for (size_t i = 0; i < size; i++) wrong += !(std::fabs(out[i] - expected[i]) <= 1e-4f * std::fabs(expected[i]) + 1e-5f);
    std::printf("%s: %d wrong\n", wrong ? "FAILED" : "passed", wrong);
    return wrong != 0;
}
