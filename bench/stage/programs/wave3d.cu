// The wave equation in three dimensions, second order: a plane a step, the plan left to the tool (`--auto`).
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(x) if ((x) != cudaSuccess) { fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(x)); exit(2); }

static const int NX = 384, NY = 320, NZ = 256, STEPS = 10;

__global__ void wave(const float *__restrict__ now, const float *__restrict__ before, float *__restrict__ after, int nx, int ny,
                     int nz, float c2)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < 1 || i >= nx - 1 || j < 1 || j >= ny - 1) return;
    for (int k = 1; k < nz - 1; ++k) {
        int at = (k * ny + j) * nx + i;
        float lap = now[at - 1] + now[at + 1] + now[at - nx] + now[at + nx] + now[at - nx * ny] + now[at + nx * ny] - 6.0f * now[at];
        after[at] = 2.0f * now[at] - before[at] + c2 * lap;
    }
}

int main()
{
    const size_t n = (size_t)NX * NY * NZ, bytes = n * sizeof(float);
    std::vector<float> a(n), b(n), c(n, 0.0f), out(n);
    for (size_t i = 0; i < n; i++) a[i] = b[i] = (float)((i * 2654435761u >> 7) % 1000) * 1e-3f;
    float *d[3];
    for (float *&p : d) CHECK(cudaMalloc(&p, bytes));
    CHECK(cudaMemcpy(d[0], a.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d[1], b.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d[2], 0, bytes));
    dim3 block(32, 8), grid((NX + 31) / 32, (NY + 7) / 8);
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    wave<<<grid, block>>>(d[0], d[1], d[2], NX, NY, NZ, 0.1f);
    CHECK(cudaEventRecord(start));
    for (int s = 0; s < STEPS; s++) wave<<<grid, block>>>(d[0], d[1], d[2], NX, NY, NZ, 0.1f);
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventSynchronize(stop));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    CHECK(cudaMemcpy(out.data(), d[2], bytes, cudaMemcpyDeviceToHost));
    double worst = 0;
    for (int k = 1; k < NZ - 1; k++)
        for (int j = 1; j < NY - 1; j++)
            for (int i = 1; i < NX - 1; i++) {
                size_t at = ((size_t)k * NY + j) * NX + i, p = (size_t)NX * NY;
                float lap = a[at - 1] + a[at + 1] + a[at - NX] + a[at + NX] + a[at - p] + a[at + p] - 6.0f * a[at];
                worst = fmax(worst, fabs(out[at] - (2.0f * a[at] - b[at] + 0.1f * lap)));
            }
    printf("%s %.1f us\n", worst < 1e-5 ? "passed" : "FAILED", 1e3f * ms / STEPS);
    return worst < 1e-5 ? 0 : 1;
}
