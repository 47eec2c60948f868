// Two steps of Himeno's pressure solver by temporal blocking: blocks overlap by two, the last three planes of the step between stay in
// shared memory in turn, and `mid`, the array that holds it, loses its stores. The second step is a plane behind the first; points at
// the edges of the box keep their values. No coefficient is zero.
#define BX 16
#define BY 16

__device__ int clamp(int x, int low, int high) { return min(max(x, low), high); }

__global__ void two_steps(const float *p, const float *a0, const float *a1, const float *a2, const float *a3,
                          const float *b0, const float *b1, const float *b2, const float *c0, const float *c1, const float *c2,
                          const float *bnd, const float *wrk1, float *mid, float *out, int nx, int ny, int nz) {
    __shared__ float t[BY][BX];
    __shared__ float m[3][BY][BX];
    int tx = threadIdx.x, ty = threadIdx.y;
    int i = clamp((int)(blockIdx.x * (BX - 2)) + tx - 1, 0, nx - 1);
    int j = clamp((int)(blockIdx.y * (BY - 2)) + ty - 1, 0, ny - 1);
    int i2 = min((int)(blockIdx.x * (BX - 2)) + min(tx, BX - 3), nx - 1);
    int j2 = min((int)(blockIdx.y * (BY - 2)) + min(ty, BY - 3), ny - 1);
    int plane = nx * ny;
    bool inner = i > 0 && i < nx - 1 && j > 0 && j < ny - 1;
    bool inner2 = i2 > 0 && i2 < nx - 1 && j2 > 0 && j2 < ny - 1;
    for (int k = 0; k <= nz; k++) {
        int kc = min(k, nz - 1), c = i + nx * j + plane * kc;
        t[ty][tx] = p[c];
        __syncthreads();
        float v = __opt__(p[c]);
        if (inner && kc > 0 && kc < nz - 1) {
            float s0 = a0[c] * __opt__(p[c + 1]) + a1[c] * __opt__(p[c + nx]) + a2[c] * p[c + plane]
                + b0[c] * (__opt__(p[c + 1 + nx]) - __opt__(p[c + 1 - nx]) - __opt__(p[c - 1 + nx]) + __opt__(p[c - 1 - nx]))
                + b1[c] * (p[c + nx + plane] - p[c - nx + plane] - p[c + nx - plane] + p[c - nx - plane])
                + b2[c] * (p[c + 1 + plane] - p[c - 1 + plane] - p[c + 1 - plane] + p[c - 1 - plane])
                + c0[c] * __opt__(p[c - 1]) + c1[c] * __opt__(p[c - nx]) + c2[c] * p[c - plane] + wrk1[c];
            v = v + 0.8f * ((s0 * a3[c] - v) * bnd[c]);
        }
        if (k < nz) {
            mid[c] = v;
            m[k % 3][ty][tx] = v;
        }
        __syncthreads();
        if (k > 0) {
            int d = i2 + nx * j2 + plane * (k - 1);
            float w = __opt__(mid[d]);
            if (inner2 && k > 1 && k < nz) {
                float s0 = a0[d] * __opt__(mid[d + 1]) + a1[d] * __opt__(mid[d + nx]) + a2[d] * __opt__(mid[d + plane])
                    + b0[d] * (__opt__(mid[d + 1 + nx]) - __opt__(mid[d + 1 - nx]) - __opt__(mid[d - 1 + nx]) + __opt__(mid[d - 1 - nx]))
                    + b1[d] * (__opt__(mid[d + nx + plane]) - __opt__(mid[d - nx + plane]) - __opt__(mid[d + nx - plane]) + __opt__(mid[d - nx - plane]))
                    + b2[d] * (__opt__(mid[d + 1 + plane]) - __opt__(mid[d - 1 + plane]) - __opt__(mid[d + 1 - plane]) + __opt__(mid[d - 1 - plane]))
                    + c0[d] * __opt__(mid[d - 1]) + c1[d] * __opt__(mid[d - nx]) + c2[d] * __opt__(mid[d - plane]) + wrk1[d];
                w = w + 0.8f * ((s0 * a3[d] - w) * bnd[d]);
            }
            out[d] = w;
        }
    }
}

#include <cmath>
#include <cstdio>
#include <vector>

static const int NX = 66, NY = 35, NZ = 20, ROUNDS = 2, ARRAYS = 12;

static float next_random(unsigned *state) {
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) * (1.0f / 16777216.0f) + 0.5f;
}

static void step(const std::vector<std::vector<float>> &a, const std::vector<float> &p, std::vector<float> &out) {
    const int nx = NX, plane = NX * NY;
    out = p;
    for (int k = 1; k < NZ - 1; k++)
        for (int j = 1; j < NY - 1; j++)
            for (int i = 1; i < NX - 1; i++) {
                int c = i + nx * j + plane * k;
                float s0 = a[0][c] * p[c + 1] + a[1][c] * p[c + nx] + a[2][c] * p[c + plane]
                    + a[4][c] * (p[c + 1 + nx] - p[c + 1 - nx] - p[c - 1 + nx] + p[c - 1 - nx])
                    + a[5][c] * (p[c + nx + plane] - p[c - nx + plane] - p[c + nx - plane] + p[c - nx - plane])
                    + a[6][c] * (p[c + 1 + plane] - p[c - 1 + plane] - p[c + 1 - plane] + p[c - 1 - plane])
                    + a[7][c] * p[c - 1] + a[8][c] * p[c - nx] + a[9][c] * p[c - plane] + a[11][c];
                out[c] = p[c] + 0.8f * ((s0 * a[3][c] - p[c]) * a[10][c]);
            }
}

int main() {
    const size_t size = (size_t)NX * NY * NZ;
    std::vector<std::vector<float>> arrays(ARRAYS, std::vector<float>(size));
    std::vector<float> p(size), next(size);
    unsigned state = 1;
    for (auto &a : arrays)
        for (auto &v : a) v = 0.1f * next_random(&state);
    for (auto &v : p) v = next_random(&state);
    float *d[ARRAYS], *d_p, *d_mid, *d_next;
    for (int a = 0; a < ARRAYS; a++) {
        cudaMalloc(&d[a], size * sizeof(float));
        cudaMemcpy(d[a], arrays[a].data(), size * sizeof(float), cudaMemcpyHostToDevice);
    }
    cudaMalloc(&d_p, size * sizeof(float));
    cudaMalloc(&d_mid, size * sizeof(float));
    cudaMalloc(&d_next, size * sizeof(float));
    cudaMemcpy(d_p, p.data(), size * sizeof(float), cudaMemcpyHostToDevice);
    dim3 block(BX, BY), grid((NX + BX - 3) / (BX - 2), (NY + BY - 3) / (BY - 2));
    for (int t = 0; t < ROUNDS; t++) {
        two_steps<<<grid, block>>>(d_p, d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7], d[8], d[9], d[10], d[11], d_mid, d_next,
                                   NX, NY, NZ);
        for (int s = 0; s < 2; s++) {
            step(arrays, p, next);
            p.swap(next);
        }
        float *other = d_p;
        d_p = d_next;
        d_next = other;
    }
    std::vector<float> out(size);
    if (cudaMemcpy(out.data(), d_p, size * sizeof(float), cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
    int wrong = 0;
    for (size_t i = 0; i < size; i++) wrong += !(std::fabs(out[i] - p[i]) <= 1e-4f * std::fabs(p[i]) + 1e-5f);
    printf("%s: %d of %zu elements differ\n", wrong ? "failed" : "passed", wrong, size);
    return wrong != 0;
}
