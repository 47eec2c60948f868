// Two time steps of the heat equation, seven points with clamped edges, by temporal blocking: blocks overlap by two, the last three planes
// of the step between stay in shared memory in turn, and `mid`, the array that holds it, loses its stores. The second step is a plane
// behind the first.
#define DX 16
#define DY 16

__device__ int clamp(int x, int low, int high) { return min(max(x, low), high); }

__global__ void two_steps(const float *in, float *mid, float *out, int nx, int ny, int nz, float cc, float cn, float cz) {
    __shared__ float a[DY][DX];
    __shared__ float b[3][DY][DX];
    int tx = threadIdx.x, ty = threadIdx.y;
    int i = clamp((int)(blockIdx.x * (DX - 2)) + tx - 1, 0, nx - 1);
    int j = clamp((int)(blockIdx.y * (DY - 2)) + ty - 1, 0, ny - 1);
    int i2 = min((int)(blockIdx.x * (DX - 2)) + min(tx, DX - 3), nx - 1);
    int j2 = min((int)(blockIdx.y * (DY - 2)) + min(ty, DY - 3), ny - 1);
    int plane = nx * ny;
    for (int k = 0; k <= nz; k++) {
        int kc = min(k, nz - 1), c = i + nx * j + plane * kc;
        a[ty][tx] = in[c];
        __syncthreads();
        float v = cc * __opt__(in[c]) + cn * (__opt__(in[i == 0 ? c : c - 1]) + __opt__(in[i == nx - 1 ? c : c + 1])
                + __opt__(in[j == 0 ? c : c - nx]) + __opt__(in[j == ny - 1 ? c : c + nx]))
                + cz * (in[kc == 0 ? c : c - plane] + in[kc == nz - 1 ? c : c + plane]);
        if (k < nz) {
            mid[c] = v;
            b[k % 3][ty][tx] = v;
        }
        __syncthreads();
        if (k > 0) {
            int c2 = i2 + nx * j2 + plane * (k - 1);
            out[c2] = cc * __opt__(mid[c2]) + cn * (__opt__(mid[i2 == 0 ? c2 : c2 - 1]) + __opt__(mid[i2 == nx - 1 ? c2 : c2 + 1])
                    + __opt__(mid[j2 == 0 ? c2 : c2 - nx]) + __opt__(mid[j2 == ny - 1 ? c2 : c2 + nx]))
                    + cz * (__opt__(mid[k == 1 ? c2 : c2 - plane]) + __opt__(mid[k == nz ? c2 : c2 + plane]));
        }
    }
}

#include <cmath>
#include <cstdio>
#include <vector>

static const int NX = 130, NY = 75, NZ = 9;

static void step(const std::vector<float> &in, std::vector<float> &out) {
    const int plane = NX * NY;
    for (int k = 0; k < NZ; k++)
        for (int j = 0; j < NY; j++)
            for (int i = 0; i < NX; i++) {
                int c = i + NX * j + plane * k;
                out[c] = 0.4f * in[c] + 0.125f * (in[i == 0 ? c : c - 1] + in[i == NX - 1 ? c : c + 1]
                       + in[j == 0 ? c : c - NX] + in[j == NY - 1 ? c : c + NX])
                       + 0.05f * (in[k == 0 ? c : c - plane] + in[k == NZ - 1 ? c : c + plane]);
            }
}

int main() {
    const size_t size = (size_t)NX * NY * NZ;
    std::vector<float> in(size), mid(size), expected(size), out(size);
    unsigned state = 1;
    for (float &x : in) {
        state = state * 1664525u + 1013904223u;
        x = (state >> 8) * (1.0f / 16777216.0f) + 0.5f;
    }
    step(in, mid);
    step(mid, expected);
    float *d_in, *d_mid, *d_out;
    cudaMalloc(&d_in, size * sizeof(float));
    cudaMalloc(&d_mid, size * sizeof(float));
    cudaMalloc(&d_out, size * sizeof(float));
    cudaMemcpy(d_in, in.data(), size * sizeof(float), cudaMemcpyHostToDevice);
    dim3 block(DX, DY), grid((NX + DX - 3) / (DX - 2), (NY + DY - 3) / (DY - 2));
    two_steps<<<grid, block>>>(d_in, d_mid, d_out, NX, NY, NZ, 0.4f, 0.125f, 0.05f);
    if (cudaMemcpy(out.data(), d_out, size * sizeof(float), cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
    int wrong = 0;
    for (size_t c = 0; c < size; c++) wrong += !(std::fabs(out[c] - expected[c]) <= 1e-5f * std::fabs(expected[c]));
    printf("%s: %d of %zu elements differ\n", wrong ? "failed" : "passed", wrong, size);
    return wrong != 0;
}
