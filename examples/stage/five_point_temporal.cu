// Two steps of the five-point stencil: blocks overlap by two, and the array between the steps is the global `mid`.
#define DX 16
#define DY 16
__device__ int clamp(int v, int low, int high) { return min(max(v, low), high); }
__global__ void two_steps(const float *in, float *mid, float *out, int nx, int ny) {
    __shared__ float a[DX * DY];
    __shared__ float b[DX * DY];
    int tx = threadIdx.x, ty = threadIdx.y;
    int s = tx + ty * DX;
    int i = clamp((int)(blockIdx.x * (DX - 2)) + tx - 1, 0, nx - 1);
    int j = clamp((int)(blockIdx.y * (DY - 2)) + ty - 1, 0, ny - 1);
    int c = i + nx * j;
    a[s] = in[c];
    __syncthreads();
    float v = __opt__(in[c]) + __opt__(in[i == 0 ? c : c - 1]) + __opt__(in[i == nx - 1 ? c : c + 1])
            + __opt__(in[j == 0 ? c : c - nx]) + __opt__(in[j == ny - 1 ? c : c + nx]);
    mid[c] = v;
    b[s] = v;
    __syncthreads();
    int i2 = min((int)(blockIdx.x * (DX - 2)) + min(tx, DX - 3), nx - 1);
    int j2 = min((int)(blockIdx.y * (DY - 2)) + min(ty, DY - 3), ny - 1);
    int c2 = i2 + nx * j2;
    out[c2] = __opt__(mid[c2]) + __opt__(mid[i2 == 0 ? c2 : c2 - 1]) + __opt__(mid[i2 == nx - 1 ? c2 : c2 + 1])
            + __opt__(mid[j2 == 0 ? c2 : c2 - nx]) + __opt__(mid[j2 == ny - 1 ? c2 : c2 + nx]);
}

#include <cmath>
#include <cstdio>
#include <vector>

static float next_random(unsigned *state) {
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) * (1.0f / 16777216.0f) + 0.5f;
}
static void once(const float *in, float *out, int nx, int ny) {
    for (int j = 0; j < ny; j++)
        for (int i = 0; i < nx; i++) {
            int c = i + nx * j;
            out[c] = in[i == 0 ? c : c - 1] + in[i == nx - 1 ? c : c + 1] + in[j == 0 ? c : c - nx]
                   + in[j == ny - 1 ? c : c + nx] + in[c];
        }
}
static void reference(const float *in, float *out, int nx, int ny) {
    std::vector<float> mid((size_t)nx * ny);
    once(in, mid.data(), nx, ny);
    once(mid.data(), out, nx, ny);
}

int main() {
    const size_t size = (size_t)300 * 201;
    std::vector<float> in(size), out(size), expected(size);
    unsigned state = 1;
    for (size_t i = 0; i < size; i++) in[i] = next_random(&state);
    float *d_in, *d_out;
    float *d_mid;
    cudaMalloc(&d_mid, size * sizeof(float));
    cudaMalloc(&d_in, size * sizeof(float));
    cudaMalloc(&d_out, size * sizeof(float));
    cudaMemcpy(d_in, in.data(), size * sizeof(float), cudaMemcpyHostToDevice);
    dim3 block(DX, DY);
    dim3 grid((300 + DX - 3) / (DX - 2), (201 + DY - 3) / (DY - 2));
    two_steps<<<grid, block>>>(d_in, d_mid, d_out, 300, 201);
    cudaMemcpy(out.data(), d_out, size * sizeof(float), cudaMemcpyDeviceToHost);
    reference(in.data(), expected.data(), 300, 201);
    int wrong = 0;
    for (size_t i = 0; i < size; i++) wrong += !(std::fabs(out[i] - expected[i]) <= 1e-4f * std::fabs(expected[i]) + 1e-5f);
    std::printf("%s: %d wrong\n", wrong ? "FAILED" : "passed", wrong);
    return wrong != 0;
}
